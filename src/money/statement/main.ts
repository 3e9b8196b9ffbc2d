import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Big } from 'big.js';
import { systemClock as clock } from '../../clock.ts';
import { isStoreUrl, openConfiguredStore, type Store, sqlitePath } from '../../engine/index.ts';
import { loadEnvFile } from '../../env-file.ts';
import { asDailiesError } from '../../errors.ts';
import { createLogger } from '../../logger.ts';
import { createUpstreamIds } from '../../pipeline/index.ts';
import { AuditTrail } from '../../teams/index.ts';
import { StatementImports } from './imports.ts';
import { detectFormat, type Format, parseMapping, StatementError, type StatementFile } from './read.ts';
import { type Reconciliation, reconcileStatement } from './reconciliation.ts';
import { discrepancyLine, monthLine, plain } from './sentences.ts';

// `npm run reconcile -- --statement FILE.csv --map id=…,amount=…,at=…`: compares the books with the service's statement.

const USAGE = `Usage: npm run reconcile -- --statement FILE.csv --map id=COLUMN,amount=COLUMN,at=COLUMN[,currency=COLUMN,kind=COLUMN]
Columns by name, or by number (from 1) where the file has no header.
  --decimal point|comma  the decimal mark of the amounts; detected where it is clear
  --currency USD         the currency, where the file has no column for it
  --dates mdy|dmy|ymd    the order of day, month and year in dates such as 11/23/2026 10:00 AM
  --scale 0.01           what an amount of 1 stands for: 0.01 for cents
  --tolerance 0.01       by how much the bill of a clip may be off, such as by rounding; none without it
  --skip 3               the number of lines above the header`;

const IMPORTED =
  'Stored. In the chat, administrators book the matches and decide on the rest: /video statement (on Discord ' +
  '/video-admin statement).';
const IMPORTED_BEFORE = 'This file was imported before; nothing was stored. In the chat: /video statement.';

/** Discrepancies printed for each month and kind. */
const MAX_PRINTED = 20;

function argumentsOf(): StatementFile {
  const { statement, map, decimal, currency, dates, scale, tolerance, skip } = parsed();
  if (statement === undefined || map === undefined) throw new StatementError(USAGE);
  if (currency !== undefined && !/^[A-Z]{3}$/u.test(currency)) {
    throw new StatementError(`--currency takes a currency such as USD, not ${JSON.stringify(currency)}.`);
  }
  if (skip !== undefined && !/^\d{1,4}$/u.test(skip)) {
    throw new StatementError(`--skip takes a number of lines, not ${JSON.stringify(skip)}.`);
  }
  return {
    path: statement,
    mapping: parseMapping(map),
    decimal: oneOf('decimal', ['point', 'comma'], decimal),
    dates: oneOf('dates', ['mdy', 'dmy', 'ymd'], dates),
    scale: positive('scale', scale),
    tolerance: positive('tolerance', tolerance)?.toFixed(),
    skip: Number(skip ?? 0),
    currency,
  };
}

function oneOf<Word extends string>(option: string, words: readonly Word[], given: string | undefined) {
  const word = words.find((one) => one === given);
  if (given === undefined || word !== undefined) return word;
  throw new StatementError(`--${option} takes ${words.join(' or ')}, not ${JSON.stringify(given)}.`);
}

function positive(option: string, given: string | undefined): Big | undefined {
  if (given === undefined) return undefined;
  const number = /^\d{1,12}(?:\.\d{1,12})?$/u.test(given) ? new Big(given) : undefined;
  if (number?.gt(0) === true) return number;
  throw new StatementError(`--${option} takes a number above 0 such as 0.01, not ${JSON.stringify(given)}.`);
}

const OPTIONS = ['statement', 'map', 'decimal', 'currency', 'dates', 'scale', 'tolerance', 'skip'] as const;

function parsed(): Partial<Record<(typeof OPTIONS)[number], string>> {
  try {
    return parseArgs({ options: Object.fromEntries(OPTIONS.map((name) => [name, { type: 'string' } as const])) })
      .values;
  } catch (thrown) {
    throw new StatementError(`${asDailiesError(thrown, 'reading the options').message}\n${USAGE}`);
  }
}

async function openBooks(url: string): Promise<Store> {
  if (!isStoreUrl(url)) throw new StatementError('STORE_URL is not the address of a store (sqlite:PATH, redis://…).');
  const file = sqlitePath(url);
  if (file !== null && !existsSync(file)) {
    throw new StatementError(`There is no store ${file} to compare with (looked for from ${process.cwd()}).`);
  }
  try {
    return await openConfiguredStore(url, { logger: createLogger('warn'), clock });
  } catch (thrown) {
    const { code, message } = asDailiesError(thrown, 'opening the store');
    if (code !== 'store_locked') throw thrown;
    throw new StatementError(
      `${message}. With SQLite, only one process can use the books: stop the bot, run this command, start the bot again. ` +
        'Clips in progress go on meanwhile.',
    );
  }
}

function report({ months, teams }: Reconciliation): string {
  const year = new Date(clock.now()).getUTCFullYear();
  const discrepancies = teams.flatMap((findings) => findings.discrepancies);
  const lines = months.flatMap((summary) => {
    const some = discrepancies.filter(({ month }) => month === summary.month);
    const groups = Object.values(Object.groupBy(some, ({ kind }) => kind));
    return [
      monthLine(summary, year),
      ...groups.flatMap((group) => [
        ...group.slice(0, MAX_PRINTED).map((one) => `  ${discrepancyLine(one)}`),
        ...(group.length > MAX_PRINTED ? [`  … and ${group.length - MAX_PRINTED} more`] : []),
      ]),
    ];
  });
  return `${lines.join('\n')}\n`;
}

function leftOutLine({ leftOut }: Format): string {
  if (leftOut.length === 0) return '';
  const lines = leftOut
    .slice(0, MAX_PRINTED)
    .map(({ line, id }) => `line ${line}${id === '' ? '' : ` (${plain(id)})`}`);
  const more = leftOut.length > MAX_PRINTED ? [`${leftOut.length - MAX_PRINTED} more`] : [];
  return `Left out, since they name neither a clip nor a time: ${[...lines, ...more].join(', ')}.\n`;
}

async function main(): Promise<void> {
  process.umask(0o077);
  const problems = loadEnvFile();
  if (problems.length > 0) throw new StatementError(problems.join('\n'));
  const file = argumentsOf();
  const format = await detectFormat(file);
  const { STORE_URL: given, VIDEO_API_BASE_URL: baseUrl } = process.env;
  const url = given === undefined || given.trim() === '' ? 'sqlite:data/dailies.db' : given;
  const store = await openBooks(url);
  try {
    const service = baseUrl === undefined || baseUrl.trim() === '' ? 'sandbox' : baseUrl;
    const books = { store, upstreamIds: createUpstreamIds(store, service) };
    const reconciliation = await reconcileStatement(books, { file, format });
    const imports = new StatementImports(store, new AuditTrail(store, clock), clock);
    const isNew = await imports.add(format.hash, reconciliation);
    process.stdout.write(`${report(reconciliation)}${leftOutLine(format)}${isNew ? IMPORTED : IMPORTED_BEFORE}\n`);
  } finally {
    await store.close();
  }
}

await main().catch((thrown: unknown) => {
  const sentence = thrown instanceof StatementError ? thrown.message : asDailiesError(thrown, 'reconciling').message;
  process.stderr.write(`${sentence}\n`);
  process.exitCode = 1;
});
