import type { History, Life, Trouble, Violation } from '../history.ts';

/** Codes of errors from outside a process, which may keep it from starting or its jobs from ending. */
const EXCUSES: ReadonlySet<string> = new Set(['store_unavailable', 'store_locked', 'disk_full']);
/** Time after its start or its end during which a fault may still have effects. */
const AFTERMATH_MS = 6_000;

/** Checks that each process lived until it was stopped, without a defect and without printing secrets. */
export function checkProcesses({ lives, troubles, secrets, breaches }: History): readonly Violation[] {
  // Only a warning: a new process has no record of limits that another one met, and neither has a stepping clock.
  const wrong = breaches.map((what) => ({ name: "breach of a platform's rules", what, isWarning: true as const }));
  const ofLives = lives.flatMap((life) => {
    const name = `process ${life.replica}.${life.life}`;
    return [
      ...wrongEnd(life, troubles).map((what) => ({ name: 'crash', what: `${name} ${what}` })),
      ...defects(life).map((what) => ({ name: 'defect', what: `${name}: ${what}` })),
      ...(secrets.some((secret) => life.output.includes(secret))
        ? [{ name: 'secret told', what: `${name} printed one` }]
        : []),
    ];
  });
  return [...wrong, ...ofLives];
}

function wrongEnd(life: Life, troubles: readonly Trouble[]): readonly string[] {
  const { end, code, readyAtMs, output } = life;
  // Before signal handlers are installed, SIGTERM ends any process.
  if (end === 'stopped' && readyAtMs === null && code === null) return [];
  if (end === 'stopped') return code === 0 ? [] : [`ended with ${code} at SIGTERM: ${lastLine(output)}`];
  if (end !== 'itself') return [];
  const wasKept = readyAtMs === null && code === 1 && output.includes('could not start') && isTroubled(life, troubles);
  return wasKept ? [] : [`ended by itself with ${code}: ${lastLine(output)}`];
}

function isTroubled({ replica, fromMs, untilMs }: Life, troubles: readonly Trouble[]): boolean {
  return troubles.some(
    (trouble) =>
      trouble.kind !== 'service' &&
      (trouble.replica === null || trouble.replica === replica) &&
      trouble.fromMs <= (untilMs ?? Number.POSITIVE_INFINITY) &&
      trouble.untilMs + AFTERMATH_MS >= fromMs,
  );
}

/** Returns log lines about errors that no outside fault explains. */
function defects({ output }: Life): readonly string[] {
  return output.split('\n').flatMap((line) => {
    if (/unhandled|uncaught/i.test(line)) return [line];
    if (!line.startsWith('{') || !line.includes('job threw an error')) return [];
    const { err } = JSON.parse(line) as { readonly err?: { readonly code?: string } };
    return EXCUSES.has(err?.code ?? '') ? [] : [line];
  });
}

function lastLine(output: string): string {
  return output.trim().split('\n').at(-1) ?? '';
}
