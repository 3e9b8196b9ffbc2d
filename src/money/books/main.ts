import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { systemClock as clock } from '../../clock.ts';
import { isStoreUrl, openConfiguredStore, type Store, sqlitePath } from '../../engine/index.ts';
import { loadEnvFile } from '../../env-file.ts';
import { asDailiesError } from '../../errors.ts';
import { createLogger } from '../../logger.ts';
import { AuditTrail } from '../../teams/index.ts';
import { checkBooks } from './check.ts';
import { isRight, tableOf } from './table.ts';

// `npm run check-books`: checks that the sums of spend are what the tasks count, and that the audit logs are intact.

function fail(sentence: string): never {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

async function open(url: string): Promise<Store> {
  if (!isStoreUrl(url)) return fail('STORE_URL is not the address of a store (sqlite:PATH, redis://…).');
  const file = sqlitePath(url);
  if (file !== null && !existsSync(file))
    return fail(`There is no store ${file} to check (looked for from ${process.cwd()}).`);
  try {
    return await openConfiguredStore(url, { logger: createLogger('warn'), clock });
  } catch (thrown) {
    const { code, message } = asDailiesError(thrown, 'opening the store');
    const way = 'The bot on it checks the books every hour (alarm MoneyDisagrees); to check them now, stop it first.';
    return fail(code === 'store_locked' ? `${message}. ${way}` : message);
  }
}

/** Reads `--head HASH`, which may be repeated: heads of audit logs that were noted before. */
function headsGiven(): readonly string[] {
  try {
    return parseArgs({ options: { head: { type: 'string', multiple: true, default: [] } } }).values.head;
  } catch (thrown) {
    return fail(`reading the options: ${(thrown as Error).message}; npm run check-books takes --head HASH`);
  }
}

const noted = headsGiven();
const problems = loadEnvFile();
if (problems.length > 0) fail(problems.join('\n'));
const given = process.env['STORE_URL'];
const store = await open(given === undefined || given.trim() === '' ? 'sqlite:data/dailies.db' : given);
try {
  const report = await checkBooks(store);
  const audit = new AuditTrail(store, clock);
  const logs = await audit.verifyAll();
  const missing: string[] = [];
  for (const head of noted) if (!(await audit.hasEntry(head))) missing.push(head);
  process.stdout.write(tableOf(report, { logs, missing }));
  if (!isRight(report, { logs, missing })) process.exitCode = 1;
} catch (thrown) {
  process.stderr.write(`${asDailiesError(thrown, 'checking the books').message}\n`);
  process.exitCode = 1;
} finally {
  await store.close();
}
