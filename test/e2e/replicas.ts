import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { RedisServer } from '../fakes/redis-server.ts';
import { type FakeVideoService, startVideoService } from '../fakes/video-service.ts';
import { type DailiesOptions, makeDir, type RunningDailies, startDailies } from './dailies.ts';

/** Several replicas of the whole program on one Redis and one video service, each in a folder of its own. */
export class Replicas {
  readonly redis: RedisServer;
  readonly upstream: FakeVideoService;
  readonly #dir: Awaited<ReturnType<typeof makeDir>>;
  readonly #running: RunningDailies[] = [];

  private constructor(redis: RedisServer, upstream: FakeVideoService, dir: Awaited<ReturnType<typeof makeDir>>) {
    this.redis = redis;
    this.upstream = upstream;
    this.#dir = dir;
  }

  /** Starts everything but the replicas. */
  static async prepare(): Promise<Replicas> {
    const redis = await RedisServer.start('--maxmemory-policy', 'noeviction');
    return new Replicas(redis, await startVideoService(), await makeDir());
  }

  /** Starts another replica. */
  async start(env: NonNullable<DailiesOptions['env']> = {}): Promise<RunningDailies> {
    const dir = join(this.#dir.path, `replica-${this.#running.length}`);
    await mkdir(dir);
    const { redis, upstream } = this;
    const started = await startDailies({ dir, upstream, env: { STORE_URL: redis.url, ...env } });
    this.#running.push(started);
    return started;
  }

  /** Stops everything and removes all files. */
  async remove(): Promise<void> {
    await Promise.all(this.#running.map((each) => each.kill()));
    await this.upstream.close();
    await this.redis.remove();
    await this.#dir.remove();
  }
}
