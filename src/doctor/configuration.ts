import { resolve } from 'node:path';
import { type Config, type Given, isSandboxed, type PlatformConfig, variablesOf } from '../config/index.ts';
import { ENV_FILE, environmentSource, isEnvFileReadable } from '../env-file.ts';
import type { Catalog } from '../videos/index.ts';
import { type Finding, type Findings, ok, warning, wrong } from './diagnosis.ts';

const DOCUMENT = 'docs/configuration.md explains the variables.';
/** Variables that only `npm run sandbox` reads. */
const SANDBOX_VARIABLES = ['SANDBOX_PORT', 'SANDBOX_TOKENS', 'SANDBOX_DATA'];
/** Beginnings of our names that no other program uses for its own. */
const FAMILIES = /^(?:DISCORD|SLACK|VIDEO_API|PLAYGROUND)_/;
/** Names from this length on may differ in two letters; shorter ones would resemble `PATH` or `HOME`. */
const LONG_NAME = 8;
/** Largest difference within a family, as between `DISCORD_BOT_TOKEN` and `DISCORD_TOKEN`. */
const FAMILY_DISTANCE = 4;

/** What {@link checkEnvironment} looks at. */
export interface Environment {
  readonly given: Given;
  readonly platforms: readonly PlatformConfig[];
  /** Problems that prevent the start. */
  readonly problems: readonly string[];
  /** Edit distance of two words. */
  readonly distance: (one: string, other: string) => number;
}

/** Reports all invalid variables at once, unknown ones that resemble ours, and a readable file of tokens. */
export function checkEnvironment({ given, platforms, problems, distance }: Environment): Findings {
  const from = environmentSource();
  const known = [...Object.keys(variablesOf(platforms)), ...SANDBOX_VARIABLES];
  const set = known.filter((name) => (given[name] ?? '').trim() !== '');
  const count = set.length === 0 ? 'no variable is set, so the defaults apply' : `${set.length} variable(s)`;
  return [
    problems.length === 0 ? ok(`${count}, read from ${from}`) : null,
    ...problems.map((problem) => wrong(problem, `Correct it in ${from}.`)),
    ...unknownVariables(given, known, distance),
    isEnvFileReadable()
      ? warning('every user of this machine can read it, tokens included', `chmod 600 ${ENV_FILE}`, ENV_FILE)
      : null,
  ];
}

function unknownVariables(
  given: Given,
  known: readonly string[],
  distance: Environment['distance'],
): readonly (Finding | null)[] {
  return Object.keys(given).map((name) => {
    if (known.includes(name) || (given[name] ?? '').trim() === '') return null;
    const [family] = FAMILIES.exec(name) ?? [];
    const candidates = family === undefined ? known : known.filter((one) => one.startsWith(family));
    const ranked = candidates
      .map((one) => ({ one, changes: distance(name, one) }))
      .sort((a, b) => a.changes - b.changes);
    const most = family !== undefined ? FAMILY_DISTANCE : name.length >= LONG_NAME ? 2 : 1;
    const best = ranked.find(({ changes }) => changes <= most)?.one;
    if (family === undefined && best === undefined) return null;
    const fix = best === undefined ? `Ours are ${candidates.join(', ')}.` : `Did you mean ${best}? ${DOCUMENT}`;
    return warning('Dailies has no such variable, so it has no effect', fix, name);
  });
}

/** Checks the catalog: whose prices it has, and whether the budget covers its currencies. */
export function checkCatalog(config: Config, { models, defaultModel }: Catalog): Findings {
  const { modelCatalog: path, budgetPerMonth } = config;
  const names = `${models.length} model(s), ${defaultModel.name} by default`;
  const isForeign = !isSandboxed(config) && path === undefined;
  const catalog = isForeign
    ? warning(
        `${names}: the sandbox’s own, whose models and prices are not those of your service`,
        'Copy config/catalog.example.json to config/catalog.json, put your models into it, and set MODEL_CATALOG.',
      )
    : ok(`${names}, from ${path === undefined ? 'the sandbox' : resolve(path)}`);
  return [catalog, ...checkMoney(budgetPerMonth, models)];
}

function checkMoney(budgets: Config['budgetPerMonth'], models: Catalog['models']): readonly Finding[] {
  const currencies = Object.keys(budgets);
  const unbudgeted = currencies.length === 0 ? [] : models.filter(({ currency }) => !currencies.includes(currency));
  const used = [...new Set(models.map(({ currency }) => currency))];
  const real = new Set(Intl.supportedValuesOf('currency'));
  const unknown = [...new Set([...used, ...currencies])].filter((currency) => !real.has(currency));
  const zones = Intl.supportedValuesOf('timeZone').length;
  const limit = currencies.length === 0 ? 'no BUDGET_PER_MONTH' : `BUDGET_PER_MONTH in ${currencies.join(', ')}`;
  const months = 'months begin in UTC, or in a team’s time zone (/video settings)';
  return [
    zones > 1
      ? ok(`prices in ${used.join(', ')}, ${limit}; ${months}`, 'Money')
      : wrong(
          'this Node knows no time zones, so a team’s month cannot begin in its own',
          'Install Node with full ICU, the default.',
          'Money',
        ),
    ...unbudgeted.map(({ name, currency }) =>
      warning(
        `it has no amount in ${currency}, so every order of ${name} is refused`,
        `Add an amount in ${currency}: amounts are never converted.`,
        'BUDGET_PER_MONTH',
      ),
    ),
    ...unknown.map((currency) =>
      warning(
        `${currency} is no currency of ISO 4217 that Node knows`,
        'Check the catalog and BUDGET_PER_MONTH.',
        'Money',
      ),
    ),
  ];
}

/** Reports people in `ADMINS` whose platform is off; those of the others are looked up by their platforms. */
export function checkAdmins({ admins, platforms, playground }: Config): Findings {
  const isOn = (name: string): boolean => name in platforms || (name === 'playground' && playground.isOn);
  return admins
    .filter(({ platform }) => !isOn(platform))
    .map(({ platform, user }) =>
      warning(`${platform}:${user} has no effect, since that platform is off`, 'Turn it on, or remove the person.'),
    );
}
