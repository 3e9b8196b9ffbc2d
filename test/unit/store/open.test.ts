import { pino } from 'pino';
import { expect, it } from 'vitest';
import { openStore } from '#src/store/open.ts';

it.each(['', 'sqlite:', 'postgres://u:s3cret@db', 'redis://u:s3cret@host:port', 'u:s3cret@redis'])(
  'refuses %s as an address of a store, and does not repeat it',
  async (url) => {
    const failure: unknown = await openStore(url, { logger: pino({ level: 'silent' }) }).catch((thrown) => thrown);
    expect(failure).toMatchObject({
      code: 'internal',
      retryable: false,
      message: expect.stringContaining('STORE_URL'),
    });
    expect(JSON.stringify(failure, Object.getOwnPropertyNames(failure))).not.toContain('s3cret');
  },
);
