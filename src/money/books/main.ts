import { parseArgs } from 'node:util';
import { systemClock as clock } from '../../clock.ts';
import { CommandError, runCommand } from '../../command.ts';
import { AuditTrail } from '../../teams/index.ts';
import { checkBooks } from './check.ts';
import { openBooks } from './command.ts';
import { isRight, tableOf } from './table.ts';

// `npm run check-books`: checks that the sums of spend are what the tasks count, and that the audit logs are intact.

const IN_USE = 'The bot on it checks the books every hour (alarm MoneyDisagrees); to check them now, stop it first.';

/** Reads `--head HASH`, which may be repeated: heads of audit logs that were noted before. */
function headsGiven(): readonly string[] {
  try {
    return parseArgs({ options: { head: { type: 'string', multiple: true, default: [] } } }).values.head;
  } catch (thrown) {
    const { message } = thrown as Error;
    throw new CommandError(`reading the options: ${message}; npm run check-books takes --head HASH`);
  }
}

await runCommand('checking the books', async () => {
  const noted = headsGiven();
  const store = await openBooks({ purpose: 'check', whileInUse: IN_USE });
  try {
    const report = await checkBooks(store);
    const audit = new AuditTrail(store, clock);
    const logs = await audit.verifyAll();
    const missing: string[] = [];
    for (const head of noted) if (!(await audit.hasEntry(head))) missing.push(head);
    process.stdout.write(tableOf(report, { logs, missing }));
    if (!isRight(report, { logs, missing })) process.exitCode = 1;
  } finally {
    await store.close();
  }
});
