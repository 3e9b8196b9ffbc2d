import { parseArgs } from 'node:util';
import { configuredPlatforms, PLATFORM_CONFIGS } from '#adapters/registry.ts';
import { distance } from '#commands/input/closest-match.ts';
import { systemClock as clock } from './clock.ts';
import { readSettings, type Settings } from './config/index.ts';
import { type Diagnosis, examine, forgetReplica, report } from './doctor/index.ts';
import { loadEnvFile } from './env-file.ts';
import { asDailiesError } from './errors.ts';
import { createLogger } from './logger.ts';

// `npm run doctor`: checks the installation and says what to do. With `--forget-redis-replica`: a decision about the
// store that only an operator can make.

const USAGE = `Usage: npm run doctor [-- --json]
Checks configuration, tokens, store, disk, ffmpeg and addresses. Changes nothing; safe beside a running bot.

npm run doctor -- --forget-redis-replica
Lets Dailies order clips again on a Redis whose replica is gone for good. A failover may then lose orders.`;

function fail(sentence: string): never {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

function options() {
  const known = { 'forget-redis-replica': { type: 'boolean' }, json: { type: 'boolean' } } as const;
  try {
    return parseArgs({ options: known }).values;
  } catch (thrown) {
    return fail(`${asDailiesError(thrown, 'reading the options').message}\n${USAGE}`);
  }
}

async function waiveReplica(): Promise<void> {
  const problems = loadEnvFile();
  if (problems.length > 0) fail(problems.join('\n'));
  const url = process.env['STORE_URL'] ?? '';
  if (!/^rediss?:\/\//.test(url)) fail('STORE_URL leads to no Redis, so there is no replica to forget.');
  await forgetReplica(url, { clock, logger: createLogger('info') }).then(
    (sentence) => process.stdout.write(`${sentence}\n`),
    (thrown: unknown) => fail(asDailiesError(thrown, 'asking Redis').message),
  );
}

async function diagnose(): Promise<readonly Diagnosis[]> {
  const read = await readSettings(PLATFORM_CONFIGS);
  // What goes wrong is in the diagnoses.
  const logger = createLogger('silent');
  const platformChecks = async ({ config }: Settings) => {
    const deps = { config, clock, logger, fetch };
    return (await Promise.all(configuredPlatforms(config).map(({ checks }) => checks(deps)))).flat();
  };
  const deps = { given: process.env, platforms: PLATFORM_CONFIGS, distance, platformChecks };
  return examine(read, { ...deps, clock, random: Math.random, logger });
}

const { json = false, 'forget-redis-replica': isForgetting = false } = options();
if (isForgetting) await waiveReplica();
else {
  // The timeouts of the checks do not keep the process alive.
  setInterval(() => undefined, 60_000);
  const diagnoses = await diagnose();
  const code = diagnoses.some(({ level }) => level === 'wrong') ? 1 : 0;
  // A check that took too long may still be running.
  process.stdout.write(json ? `${JSON.stringify(diagnoses, null, 2)}\n` : report(diagnoses), () => process.exit(code));
}
