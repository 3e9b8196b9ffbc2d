// Plain JavaScript, loaded by `--import` before anything else: an older Node cannot run the TypeScript that follows.

const NEEDED = [24, 12];

/**
 * Returns an error message that names the required Node version if `version` (such as `20.20.1`) is too old.
 * @param {string} version
 * @returns {string | null}
 */
export function nodeProblem(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])) return null;
  return (
    `Dailies needs Node ${NEEDED.join('.')} or later; this is ${major}.${minor}. ` +
    'Run npm install, which brings the right one, or install it from https://nodejs.org.'
  );
}

const problem = nodeProblem(process.versions.node);
if (problem !== null) {
  process.stderr.write(`${problem}\n`);
  process.exit(1);
}
