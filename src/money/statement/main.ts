import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { systemClock as clock } from '../../clock.ts';
import { isStoreUrl, openConfiguredStore, type Store, sqlitePath } from '../../engine/index.ts';
import { loadEnvFile } from '../../env-file.ts';
import { asDailiesError } from '../../errors.ts';
import { createLogger } from '../../logger.ts';
import { createUpstreamIds } from '../../pipeline/index.ts';
import { AuditTrail } from '../../teams/index.ts';
import { parseMapping } from './columns.ts';
import { StatementImports } from './imports.ts';
import { detectFormat, type StatementFile } from './read.ts';
import { type Reconciliation, reconcileStatement } from './reconciliation.ts';
import { discrepancyLine, monthLine } from './sentences.ts';
import { StatementError } from './statement-error.ts';
import type { DecimalMark } from './values.ts';

// `npm run reconcile -- --statement FILE.csv --map id=…,amount=…,at=…`: compares the books with the service's statement.

const USAGE = `Usage: npm run reconcile -- --statement FILE.csv --map id=COLUMN,amount=COLUMN,at=COLUMN[,currency=COLUMN,kind=COLUMN]
Columns by name, or by number (from 1) where the file has no header.
  --decimal point|comma  the decimal mark of the amounts; detected where it is clear
  --currency USD         the currency, where the file has no column for it`;

const IMPORTED =
  'Stored. In the chat, administrators book the matches and decide on the rest: /video statement (on Discord ' +
  '/video-admin statement).';
const IMPORTED_BEFORE = 'This file was imported before; nothing was stored. In the chat: /video statement.';

/** Discrepancies printed for each month and kind. */
const MAX_PRINTED = 20;

interface Arguments {
  readonly file: StatementFile;
  readonly currency: string | undefined;
}

function argumentsOf(): Arguments {
  const { statement, map, decimal, currency } = parsed();
  if (statement === undefined || map === undefined) throw new StatementError(USAGE);
  if (currency !== undefined && !/^[A-Z]{3}$/u.test(currency)) {
    throw new StatementError(`--currency takes a currency such as USD, not ${JSON.stringify(currency)}.`);
  }
  const file = {
    path: statement,
    mapping: parseMapping(map),
    ...(decimal === undefined ? {} : { decimal: decimalMarkOf(decimal) }),
  };
  return { file, currency };
}

function decimalMarkOf(given: string): DecimalMark {
  if (given === 'point' || given === 'comma') return given;
  throw new StatementError(`--decimal takes point or comma, not ${JSON.stringify(given)}.`);
}

function parsed(): {
  readonly statement?: string;
  readonly map?: string;
  readonly decimal?: string;
  readonly currency?: string;
} {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({ options: { statement: text, map: text, decimal: text, currency: text } }).values;
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

async function main(): Promise<void> {
  process.umask(0o077);
  const problems = loadEnvFile();
  if (problems.length > 0) throw new StatementError(problems.join('\n'));
  const { file, currency } = argumentsOf();
  const format = await detectFormat(file);
  const { STORE_URL: given, VIDEO_API_BASE_URL: baseUrl } = process.env;
  const url = given === undefined || given.trim() === '' ? 'sqlite:data/dailies.db' : given;
  const store = await openBooks(url);
  try {
    const service = baseUrl === undefined || baseUrl.trim() === '' ? 'sandbox' : baseUrl;
    const books = { store, upstreamIds: createUpstreamIds(store, service) };
    const options = { file, format, ...(currency === undefined ? {} : { currency }) };
    const reconciliation = await reconcileStatement(books, options);
    const imports = new StatementImports(store, new AuditTrail(store, clock), clock);
    const isNew = await imports.add(format.hash, reconciliation);
    process.stdout.write(`${report(reconciliation)}${isNew ? IMPORTED : IMPORTED_BEFORE}\n`);
  } finally {
    await store.close();
  }
}

await main().catch((thrown: unknown) => {
  const sentence = thrown instanceof StatementError ? thrown.message : asDailiesError(thrown, 'reconciling').message;
  process.stderr.write(`${sentence}\n`);
  process.exitCode = 1;
});
