import { parseArgs } from 'node:util';
import { Big } from 'big.js';
import { z } from 'zod';
import { systemClock as clock } from '../../clock.ts';
import { CommandError, runCommand } from '../../command.ts';
import { asDailiesError } from '../../errors.ts';
import { UpstreamIds } from '../../pipeline/index.ts';
import { AuditTrail } from '../../teams/index.ts';
import { readServices, serviceNamed } from '../../videos/index.ts';
import { openBooks } from '../books/command.ts';
import { importStatement } from './imports.ts';
import { parseMapping, readStatement, type Statement, type StatementFile } from './read.ts';
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
  --skip 3               the number of lines above the header
  --service openrouter   the service of SERVICES whose statement it is`;

const IMPORTED =
  'Stored. In the chat, administrators book the matches and decide on the rest: /video statement (on Discord ' +
  '/video-admin statement).';
const IN_USE =
  'With SQLite, only one process can use the books: stop the bot, run this command, start the bot again. ' +
  'Clips in progress go on meanwhile.';
const IMPORTED_BEFORE = 'This file was imported before; nothing was stored. In the chat: /video statement.';

/** Discrepancies printed for each month and kind. */
const MAX_PRINTED = 20;

const POSITIVE = z
  .string()
  .regex(/^(?=.*[1-9])\d{1,12}(?:\.\d{1,12})?$/u, 'a number above 0 such as 0.01')
  .transform((text) => new Big(text));

/** Options that may be left out; the message of each says what it takes. */
const OPTIONS = z.object({
  decimal: z.enum(['point', 'comma'], 'point or comma').optional(),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/u, 'a currency such as USD')
    .optional(),
  dates: z.enum(['mdy', 'dmy', 'ymd'], 'mdy or dmy or ymd').optional(),
  scale: POSITIVE.optional(),
  tolerance: POSITIVE.transform((amount) => amount.toFixed()).optional(),
  service: z.string().min(1, 'the name of a service').optional(),
  skip: z
    .string()
    .regex(/^\d{1,4}$/u, 'a number of lines')
    .transform(Number)
    .optional(),
});

function argumentsOf(): StatementFile {
  const { statement, map, ...given } = parsed();
  if (statement === undefined || map === undefined) throw new CommandError(USAGE);
  const { data, error } = OPTIONS.safeParse(given);
  if (data !== undefined) return { path: statement, mapping: parseMapping(map), ...data };
  const sentences = error.issues.map(({ path: [option = ''], message }) => {
    return `--${String(option)} takes ${message}, not ${JSON.stringify(given[String(option)])}.`;
  });
  throw new CommandError(sentences.join('\n'));
}

function parsed(): Partial<Record<string, string>> {
  const names = ['statement', 'map', ...Object.keys(OPTIONS.shape)];
  try {
    return parseArgs({ options: Object.fromEntries(names.map((name) => [name, { type: 'string' } as const])) }).values;
  } catch (thrown) {
    throw new CommandError(`${asDailiesError(thrown, 'reading the options').message}\n${USAGE}`);
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

function leftOutLine({ leftOut }: Statement): string {
  if (leftOut.length === 0) return '';
  const lines = leftOut
    .slice(0, MAX_PRINTED)
    .map(({ line, id }) => `line ${line}${id === '' ? '' : ` (${plain(id)})`}`);
  const more = leftOut.length > MAX_PRINTED ? [`${leftOut.length - MAX_PRINTED} more`] : [];
  return `Left out, since they name neither a clip nor a time: ${[...lines, ...more].join(', ')}.\n`;
}

/** Returns the name of a statement's service, and what identifies it in the books: its base URL. */
async function serviceOf({ service }: Pick<StatementFile, 'service'>): Promise<{ name?: string; key: string }> {
  const { VIDEO_API_BASE_URL: baseUrl = '', SERVICES: path = '' } = process.env;
  if (service === undefined && baseUrl.trim() !== '') return { key: baseUrl };
  const services = path.trim() === '' ? [] : await readServices(path, process.env);
  const found = serviceNamed(services, service === undefined ? {} : { service });
  if (found === undefined && service !== undefined)
    throw new CommandError(`--service takes the name of a service in SERVICES, not ${JSON.stringify(service)}.`);
  if (found === undefined && services.length > 0)
    throw new CommandError(`--service is missing; SERVICES names ${services.map(({ name }) => name).join(', ')}.`);
  return { ...(found?.name === undefined ? {} : { name: found.name }), key: found?.baseUrl ?? 'sandbox' };
}

await runCommand('reconciling', async () => {
  process.umask(0o077);
  const read = await readStatement(argumentsOf());
  const { name, key } = await serviceOf(read);
  const statement = { ...read, ...(name === undefined ? {} : { service: name }) };
  const store = await openBooks({ purpose: 'compare with', whileInUse: IN_USE });
  try {
    const upstreamIds = new UpstreamIds(store, () => key);
    const reconciliation = await reconcileStatement({ store, upstreamIds }, statement);
    const audit = new AuditTrail(store, clock);
    const isNew = await importStatement({ store, audit, clock }, statement.hash, reconciliation);
    process.stdout.write(`${report(reconciliation)}${leftOutLine(statement)}${isNew ? IMPORTED : IMPORTED_BEFORE}\n`);
  } finally {
    await store.close();
  }
});
