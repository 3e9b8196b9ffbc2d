/**
 * `npm run chaos`: runs the whole program under faults, many times, and reports violations. The seed alone decides the
 * faults and the orders, but not the timing of the machine's scheduler, so a failed seed is worth retrying a few
 * times.
 */
import { parseArgs } from 'node:util';
import { asDailiesError } from '#src/errors.ts';
import { runBig } from './big.ts';
import { drawPlan, FAULT_KINDS, type FaultKind, type PlanOptions } from './plan.ts';
import { PROFILES } from './profiles.ts';
import { commandOf, keep, rowOf, summaryOf } from './report.ts';
import { type Ran, run } from './run.ts';

const OPTIONS = {
  seed: { type: 'string', default: '1' },
  runs: { type: 'string', default: '10' },
  replicas: { type: 'string' },
  store: { type: 'string' },
  interactions: { type: 'string' },
  /** Profile of the service, in place of those that are drawn. */
  profile: { type: 'string' },
  /** Runs 10,000 interactions on two and on four replicas that are killed throughout. */
  big: { type: 'boolean', default: false },
  parallel: { type: 'string', default: '2' },
  /** Folder for the full record of each run. */
  keep: { type: 'string' },
  faults: { type: 'string', default: FAULT_KINDS.join(',') },
} as const;

const values = parsed();
for (const name of ['seed', 'runs', 'replicas', 'interactions', 'parallel'] as const) {
  const given = values[name];
  if (given !== undefined && !/^[1-9]\d*$/.test(given)) fail(`--${name} takes a whole number from 1 on, not ${given}`);
}

/** Parses the options; exits with an error message if they are invalid. */
function parsed() {
  try {
    return parseArgs({ options: OPTIONS }).values;
  } catch (thrown) {
    return fail(asDailiesError(thrown, 'reading the options').message);
  }
}

function fail(sentence: string): never {
  const known = Object.keys(OPTIONS).map((name) => `--${name}`);
  process.stderr.write(`${sentence.replaceAll('\n', ' ')}; npm run chaos takes ${known.join(', ')}\n`);
  process.exit(2);
}

const ran: Ran[] = [];
/** Seeds of aborted runs. */
const broken: number[] = [];

// Child processes and folders are cleaned up on exit.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

/** Returns the options of a seed. By default one in four is embedded, the others use Redis with 2 or 4 replicas. */
function optionsOf(seed: number): PlanOptions {
  const store = values.store ?? (seed % 4 === 0 ? 'sqlite' : 'redis');
  if (store !== 'sqlite' && store !== 'redis') return fail(`--store takes sqlite or redis, not ${store}`);
  const replicas = store === 'sqlite' ? 1 : Number(values.replicas ?? [2, 2, 4, 2][seed % 4]);
  const wanted = values.faults.split(',').filter((name) => name !== '' && name !== 'none');
  const wrong = wanted.find((name) => !FAULT_KINDS.some((kind) => kind === name));
  if (wrong !== undefined) return fail(`--faults takes ${FAULT_KINDS.join(', ')}; not ${wrong}`);
  const profile = PROFILES.find((name) => name === values.profile);
  if (values.profile !== undefined && profile === undefined)
    return fail(`--profile takes ${PROFILES.join(', ')}, not ${values.profile}`);
  const drawn = {
    seed,
    store,
    replicas,
    interactions: Number(values.interactions ?? 40),
    faults: wanted as FaultKind[],
  } as const;
  return profile === undefined ? drawn : { ...drawn, profile };
}

if (values.big) {
  const counts = values.replicas === undefined ? [2, 4] : [Number(values.replicas)];
  const interactions = Number(values.interactions ?? 10_000);
  for (const replicas of counts) {
    const say = (line: string) => process.stderr.write(line);
    await report(await runBig({ seed: Number(values.seed), replicas, interactions, say }));
  }
}

const seeds = values.big ? [] : Array.from({ length: Number(values.runs) }, (_, place) => Number(values.seed) + place);

async function report(done: Ran): Promise<void> {
  ran.push(done);
  process.stdout.write(rowOf(done));
  if (done.violations.length > 0) process.stdout.write(commandOf(done.plan));
  if (values.keep !== undefined) await keep(done, values.keep);
}

async function work(): Promise<void> {
  for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) {
    const plan = drawPlan(optionsOf(seed));
    await run(plan).then(report, (thrown: unknown) => {
      broken.push(seed);
      process.stdout.write(`seed ${seed} broke off: ${String(thrown)}\n${commandOf(plan)}`);
    });
  }
}

await Promise.all(Array.from({ length: Number(values.parallel) }, work));
process.stdout.write(summaryOf(ran));
if (broken.length > 0) process.stdout.write(`broken off: ${broken.join(', ')}\n`);
const isGrave = ran.some(({ violations }) => violations.some(({ isWarning }) => isWarning !== true));
// Drops everything that an aborted run has left open.
process.exit(isGrave || broken.length > 0 ? 1 : 0);
