import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Output } from '#src/output.ts';

const AGAIN = Object.assign(new Error('not now'), { code: 'EAGAIN' });
const BROKEN = Object.assign(new Error('gone'), { code: 'EPIPE' });

/** A reader that accepts `capacity` more bytes. */
const reader = { capacity: Number.POSITIVE_INFINITY, isGone: false, got: '' };
let later: (() => void)[];
let dropped: number[];
let output: Output;

beforeEach(() => {
  Object.assign(reader, { capacity: Number.POSITIVE_INFINITY, isGone: false, got: '' });
  later = [];
  dropped = [];
  output = new Output({
    maxPendingBytes: 10,
    after: (_delayMs, run) => void later.push(run),
    write(bytes) {
      if (reader.isGone) throw BROKEN;
      if (reader.capacity === 0) throw AGAIN;
      const taken = bytes.subarray(0, reader.capacity);
      reader.capacity -= taken.length;
      reader.got += Buffer.from(taken).toString();
      return taken.length;
    },
  });
  output.onDropped = (count) => void dropped.push(count);
});

describe('an output', () => {
  it('writes at once while its reader reads', () => {
    output.write('one ');
    output.write('two');
    expect(reader.got).toBe('one two');
    expect(later).toEqual([]);
  });

  it('buffers the rest while its reader does not read, in order and to the byte', () => {
    reader.capacity = 2;
    output.write('first');
    output.write('last');
    expect(reader.got).toBe('fi');
    expect(later).toHaveLength(1);
    reader.capacity = 100;
    later[0]?.();
    expect(reader.got).toBe('firstlast');
    output.write('!');
    expect(reader.got).toBe('firstlast!');
    expect(dropped).toEqual([]);
  });

  it('drops whole texts beyond its limit, and reports their number once its reader reads again', () => {
    reader.capacity = 0;
    for (const text of ['12345', '67890', 'no', 'no']) output.write(text);
    later[0]?.();
    expect(dropped).toEqual([]);
    reader.capacity = 100;
    later[1]?.();
    expect(reader.got).toBe('1234567890');
    expect(dropped).toEqual([2]);
  });

  it('continues without a reader', () => {
    reader.isGone = true;
    output.onDropped = () => output.write('again and again');
    for (let count = 0; count < 10; count += 1) output.write('nobody');
    expect(later).toEqual([]);
  });
});

/** A process that logs far more than any pipe can buffer, writes its pid to a file, and exits at SIGTERM. */
const PROGRAM = `
import { writeFileSync } from 'node:fs';
import { createLogger } from '${new URL('../../src/logger.ts', import.meta.url).href}';
const logger = createLogger('info');
process.once('SIGTERM', () => {
  logger.info('stopping');
  process.exit(0);
});
setInterval(() => undefined, 60_000);
for (let count = 0; count < 5_000; count += 1) logger.info({ words: 'x'.repeat(200) }, 'a line');
writeFileSync('logged', String(process.pid));
`;

/** Commands of a shell that runs it and records its exit code, with an output that is never read. */
const UNREAD = {
  terminal: ['script', '-qfc', 'sh run', '/dev/null'],
  pipe: ['sh', '-c', 'sh run | sleep 600'],
  socket: ['sh', 'run'],
} as const;

it.each(Object.keys(UNREAD) as (keyof typeof UNREAD)[])(
  'a %s that is never read blocks neither the process nor its shutdown',
  async (kind) => {
    const folder = await mkdtemp(join(tmpdir(), 'dailies-output-'));
    await Promise.all([
      writeFile(join(folder, 'program.mjs'), PROGRAM),
      writeFile(join(folder, 'run'), `'${process.execPath}' program.mjs; echo "code $?" > ended`),
    ]);
    const [command, ...args] = UNREAD[kind];
    const child = spawn(command, args, { cwd: folder, detached: true, stdio: ['pipe', 'pipe', 'inherit'] });
    onTestFinished(async () => {
      try {
        process.kill(-(child.pid ?? 0), 'SIGKILL');
      } catch {
        // It has exited, with all its children.
      }
      await rm(folder, { recursive: true });
    });
    const said = (file: string): Promise<string> => readFile(join(folder, file), 'utf8');
    await vi.waitFor(async () => expect(await said('logged')).toMatch(/^\d+$/), 300_000);
    process.kill(Number(await said('logged')), 'SIGTERM');
    await vi.waitFor(async () => expect(await said('ended')).toBe('code 0\n'), 300_000);
  },
);
