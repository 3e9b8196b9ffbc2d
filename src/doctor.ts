import { parseArgs } from 'node:util';
import { systemClock as clock } from './clock.ts';
import { loadEnvFile } from './config/env-file.ts';
import { asDailiesError } from './errors.ts';
import { createLogger } from './logger.ts';
import { withoutPassword } from './store/address.ts';
import { RedisConnection } from './store/redis/connection.ts';
import { waiveReplica } from './store/redis/replicas.ts';

// `npm run doctor -- --forget-redis-replica`: decisions about the store that only an operator can make.

const USAGE = `Usage: npm run doctor -- --forget-redis-replica
Lets Dailies order clips again on a Redis whose replica is gone for good. A failover may then lose orders.`;

function fail(sentence: string): never {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

function isForgetting(): boolean {
  try {
    const { values } = parseArgs({ options: { 'forget-redis-replica': { type: 'boolean' } } });
    return values['forget-redis-replica'] === true;
  } catch (thrown) {
    return fail(`${asDailiesError(thrown, 'reading the options').message}\n${USAGE}`);
  }
}

/** Waives the confirmation of writes to the Redis at `url` by a replica. */
async function forgetReplica(url: string): Promise<void> {
  const logger = createLogger('info');
  const link = await RedisConnection.open(url, { clock, logger });
  try {
    const replicas = await link.call('waiving the confirmation by a replica', () => waiveReplica(link.client));
    const address = withoutPassword(url);
    if (replicas > 0) {
      process.exitCode = 1;
      process.stderr.write(
        `${address} has ${replicas} replica(s) connected, so the requirement stays: detach them first ` +
          '(REPLICAOF NO ONE on each).\n',
      );
      return;
    }
    logger.warn({ event: 'redis_replica_waiver_set', redis: address }, 'waived the confirmation by a Redis replica');
    process.stdout.write(
      `Running bots notice within 5 s and take orders again without a replica. Once one is attached to ${address}, ` +
        'it is required again.\n',
    );
  } finally {
    await link.close();
  }
}

const problems = loadEnvFile();
if (problems.length > 0) fail(problems.join('\n'));
if (!isForgetting()) fail(USAGE);
const url = process.env['STORE_URL'] ?? '';
if (!/^rediss?:\/\//.test(url)) fail('STORE_URL leads to no Redis, so there is no replica to forget.');
await forgetReplica(url).catch((thrown: unknown) => fail(asDailiesError(thrown, 'asking Redis').message));
