import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { UNFINISHED } from '#src/engine/store/migrate/migration.ts';
import { openConfiguredStore, openStore } from '#src/engine/store/open.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';

const logger = pino({ level: 'silent' });

it.each(['', 'sqlite:', 'postgres://u:s3cret@db', 'redis://u:s3cret@host:port', 'u:s3cret@redis'])(
  'rejects %s as a store URL, without printing it',
  async (url) => {
    const failure: unknown = await openStore(url, { logger }).catch((thrown) => thrown);
    expect(failure).toMatchObject({
      code: 'internal',
      retryable: false,
      message: expect.stringContaining('STORE_URL'),
    });
    expect(JSON.stringify(failure, Object.getOwnPropertyNames(failure))).not.toContain('s3cret');
  },
);

it('names the path and the requirements of a file that cannot be opened', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dailies-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'letter.db');
  writeFileSync(file, 'Dear Sir or Madam, this is no database');
  await expect(openConfiguredStore(`sqlite:${file}`, { logger })).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringMatching(
      `STORE_URL means ${file}: it has to be a new file or a store of Dailies, in a folder that this user can write to$`,
    ),
  });
});

it('rejects an unfinished copy, and closes it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dailies-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const url = `sqlite:${join(folder, 'copy.db')}`;
  const copy = await openStore(url, { logger });
  await copy.keyv(UNFINISHED.namespace).set(UNFINISHED.key, {});
  await copy.close();
  await expect(openConfiguredStore(url, { logger })).rejects.toMatchObject({
    code: 'internal',
    message: expect.stringContaining('repeat the migration'),
  });
  await (await openStore(url, { logger })).close();
});

it('names the address of an unreachable Redis, without the password', async () => {
  const clock = new ManualClock();
  const opening = openConfiguredStore('redis://u:s3cret@127.0.0.1:1/0', { logger, clock });
  // Its client is loaded on demand.
  await expect.poll(() => clock.pending).toBeGreaterThan(0);
  clock.advance(5_000);
  const failure: unknown = await opening.catch((thrown) => thrown);
  expect(failure).toMatchObject({
    code: 'store_unavailable',
    // The refused connection may be reported before the deadline or at it.
    message: expect.stringMatching(
      /^connecting to Redis: .+; STORE_URL means redis:\/\/127\.0\.0\.1:1\/0: a Redis has to run there, be reachable from here, and let this user in$/,
    ),
  });
  expect(JSON.stringify(failure, Object.getOwnPropertyNames(failure))).not.toContain('s3cret');
});
