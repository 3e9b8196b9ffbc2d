import { pino } from 'pino';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '#src/clock.ts';
import { type AskedRedis, checkRedis } from '#src/engine/store/redis/settings.ts';
import type { Store } from '#src/engine/store/store.ts';
import { openRedis, serveRedis } from '#test/fakes/redis-house.ts';

const said: Record<string, unknown>[] = [];
const logger = pino({ base: null, timestamp: false }, { write: (line: string) => void said.push(JSON.parse(line)) });
const REFUSED = { code: 'store_unavailable', retryable: false };

afterEach(() => {
  said.length = 0;
});

function open(url: string): Promise<Store> {
  return openRedis(url, { clock: systemClock, logger });
}

/** Returns a Redis whose INFO has these fields, and that rejects CONFIG GET, as hosted ones do. */
function hosted(fields: Readonly<Record<string, string>>): AskedRedis {
  const lines = Object.entries(fields).map(([name, value]) => `${name}:${value}\r\n`);
  return {
    info: async () => `# Everything\r\n${lines.join('')}`,
    configGet: async () => {
      throw new Error("ERR unknown command 'CONFIG', with args beginning with: 'GET'");
    },
  };
}

describe('a real Redis', () => {
  it.each([
    ['appendonly', 'no'],
    ['appendfsync', 'everysec'],
    ['maxmemory-policy', 'volatile-lru'],
  ])('logs one error at start if a setting may lose acknowledged writes: %s %s', async (setting, found) => {
    await open((await serveRedis(`--${setting}`, found)).url);
    expect(said).toMatchObject([{ level: 50, setting, found, lost: expect.any(String) }]);
    expect(said[0]?.['fix']).toContain(`CONFIG SET ${setting} ${String(said[0]?.['needed'])}`);
  });

  it('is rejected if it evicts claims; the error names the setting and the fix', async () => {
    const { url } = await serveRedis('--maxmemory-policy', 'allkeys-lru');
    const failure: unknown = await open(url).catch((thrown: unknown) => thrown);
    expect(failure).toMatchObject({ ...REFUSED, message: expect.stringContaining('maxmemory-policy is allkeys-lru') });
    expect(String(failure)).toContain('CONFIG SET maxmemory-policy noeviction');
  });

  it('is rejected if it is a replica', async () => {
    const primary = await serveRedis();
    const replica = await primary.replica();
    onTestFinished(() => replica.remove());
    await expect(open(replica.url)).rejects.toMatchObject({ ...REFUSED, message: expect.stringContaining('replica') });
  });

  it('is rejected if it is a cluster', async () => {
    const { url } = await serveRedis('--cluster-enabled', 'yes');
    await expect(open(url)).rejects.toMatchObject({ ...REFUSED, message: expect.stringContaining('cluster') });
  });

  it('logs nothing if its settings are safe', async () => {
    await open((await serveRedis()).url);
    expect(said).toEqual([]);
  });

  it('works without access to INFO and CONFIG, and logs the unknown settings', async () => {
    const server = await serveRedis();
    await server.command('ACL', 'SETUSER', 'bot', 'on', '>pass', '~*', '&*', '+@all', '-config', '-info');
    const store = await open(`redis://bot:pass@127.0.0.1:${server.port}`);
    expect(said).toMatchObject([{ level: 40, event: 'redis_settings_unknown' }]);
    await store.keyv('tasks').set('a', 1);
    await store.ping();
  });
});

describe('a Redis that does not show its configuration', () => {
  it('is checked by its INFO', async () => {
    await checkRedis(hosted({ redis_version: '7.2.4', maxmemory_policy: 'volatile-ttl', aof_enabled: '0' }), logger);
    expect(said).toMatchObject([
      { level: 50, setting: 'appendonly', found: 'no' },
      { level: 50, setting: 'maxmemory-policy', found: 'volatile-ttl' },
      { level: 40, unknown: [{ setting: 'appendfsync' }] },
    ]);
  });

  it.each([
    ['evicts claims', { maxmemory_policy: 'allkeys-random' }, 'allkeys-random'],
    ['is a cluster', { redis_mode: 'cluster' }, 'cluster'],
    ['is a Sentinel', { redis_mode: 'sentinel' }, 'sentinel'],
    ['is a replica', { role: 'slave' }, 'replica'],
    ['is too old', { redis_version: '6.0.16' }, '6.0.16'],
  ])('is rejected if it %s', async (_what, fields, named) => {
    await expect(checkRedis(hosted(fields), logger)).rejects.toMatchObject({
      ...REFUSED,
      message: expect.stringContaining(named),
    });
  });

  it.each(['6.2.0', '7.0.15', '8.2', '255.255.255'])('is accepted at version %s', async (version) => {
    const fields = { redis_version: version, maxmemory_policy: 'noeviction', aof_enabled: '1' };
    await expect(checkRedis(hosted(fields), logger)).resolves.toBeUndefined();
  });
});
