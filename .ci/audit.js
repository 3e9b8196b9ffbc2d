// node .ci/audit.js
// Asks the registry what is known against the dependencies that are installed with the bot.
// Exits 0 where nothing of at least `high` is, 1 where something is or the audit itself is broken, and 2, loudly, where
// the registry has no answer: that is neither passed nor failed.
// Runs on the machine's own Node (20 or later).
import { spawnSync } from 'node:child_process';

const LEVEL = 'high';
const say = (/** @type {string} */ line) => process.stderr.write(`${line}\n`);

const { stdout, signal } = spawnSync('npm', ['audit', '--omit=dev', `--audit-level=${LEVEL}`, '--json'], {
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
  timeout: 120_000,
});

/** @returns {{ metadata?: { vulnerabilities?: Record<string, number> }, vulnerabilities?: Record<string, { severity: string }>, message?: string, error?: { summary?: string } }} */
function readReport() {
  try {
    return JSON.parse(stdout) ?? {};
  } catch {
    return {};
  }
}

/** What became of the audit, as an exit code. */
function judge() {
  const report = readReport();
  const counts = report.metadata?.vulnerabilities;
  if (counts !== undefined) {
    const bad = (counts['high'] ?? 0) + (counts['critical'] ?? 0);
    say(`audit: ${bad} of ${LEVEL} or above, ${counts['total'] ?? 0} in all`);
    for (const [name, { severity }] of Object.entries(report.vulnerabilities ?? {})) say(`  ${severity}: ${name}`);
    return bad === 0 ? 0 : 1;
  }
  const reason = signal === null ? (report.message ?? '') : 'no answer in two minutes';
  // The registry, or the way there, failed; npm's own troubles come without a message.
  if (reason === '') {
    say(`audit: broken: ${report.error?.summary ?? 'npm audit said nothing'}`);
    return 1;
  }
  const line = `NO AUDIT: the registry could not be asked what is known against the dependencies (${reason})`;
  say(`${'!'.repeat(80)}\n${line}\n${'!'.repeat(80)}`);
  // Where GitHub runs this, it stands at the top of the run.
  if (process.env['GITHUB_ACTIONS'] === 'true') process.stdout.write(`::warning title=No audit::${line}\n`);
  return 2;
}

process.exitCode = judge();
