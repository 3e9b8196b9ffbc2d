// node .ci/summary.js <vitest's JSON report> <exit code of the tests> <exit code of the checks> <processes left running>
//   <exit code of the audit>
// Prints `N passed, N failed, N skipped` and exits 0 only if everything ran and everything passed.
// Runs on the machine's own Node (20 or later), since it has to answer when `npm ci` failed too.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const [reportPath, ...numbers] = process.argv.slice(2);
const [testsStatus, checksStatus, stray, auditStatus] = numbers.map(Number);

const count = { passed: 0, failed: 0, skipped: 0 };
const say = (/** @type {string} */ line) => process.stderr.write(`${line}\n`);

const report = existsSync(reportPath)
  ? JSON.parse(readFileSync(reportPath, 'utf8'))
  : { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0, testResults: [] };
count.passed += report.numPassedTests;
count.failed += report.numFailedTests;
count.skipped += report.numPendingTests + report.numTodoTests;

// A file that could not be loaded fails without a failed test.
for (const { name, status, assertionResults } of report.testResults) {
  if (status !== 'failed' || assertionResults.some((one) => one.status === 'failed')) continue;
  say(`did not load: ${name}`);
  count.failed += 1;
}

const ran = new Set(report.testResults.map(({ name }) => resolve(name)));
for (const path of readdirSync('test', { recursive: true })) {
  if (!String(path).endsWith('.test.ts') || ran.has(resolve('test', String(path)))) continue;
  say(`did not run: test/${path}`);
  count.skipped += 1;
}

// Such as an error after the last test, of which no test knows.
if (testsStatus !== 0 && count.failed === 0) {
  say(`the tests ended with ${testsStatus}`);
  count.failed += 1;
}
if (count.passed === 0) {
  say('no test passed');
  count.failed = Math.max(1, count.failed);
}

if (checksStatus === 0) count.passed += 1;
else {
  say(`npm run check ended with ${checksStatus}`);
  count.failed += 1;
}
if (stray !== 0) {
  say(`${stray} processes were left running`);
  count.failed += 1;
}

if (auditStatus === 0) count.passed += 1;
else if (auditStatus === 2) say('the dependencies were NOT audited: the registry could not be asked');
else {
  say(`the audit of the dependencies ended with ${auditStatus}`);
  count.failed += 1;
}

process.exitCode = count.failed === 0 && count.skipped === 0 ? 0 : 1;
process.stdout.write(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped\n`);
