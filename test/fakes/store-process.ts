/**
 * Process that uses a store, for tests with several processes and for crash tests: `node store-process.ts URL
 * hold|write|claim|leave|lease`. Logs to standard output and prints `open` once the store is open; in the roles that
 * claim, every later line is a key that the store has acknowledged.
 */
import { once } from 'node:events';
import { pino } from 'pino';
import { openStore } from '#src/engine/store/open.ts';

const [url = '', role = ''] = process.argv.slice(2);
const store = await openStore(url, { logger: pino({ base: null }, process.stdout) });

function claim(id: string): Promise<boolean> {
  return store.commit({
    records: [{ namespace: 'tasks', key: id, value: { revision: 1, by: process.pid }, expected: 'absent' }],
    index: [{ index: 'open', member: id, score: 1 }],
  });
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Holds the store until the process is killed. */
function hold(): void {
  setInterval(() => undefined, 60_000);
}

/** Claims in bursts until one fails, and prints each claim once it is acknowledged. */
async function write(): Promise<void> {
  try {
    for (let burst = 0; ; burst += 1) {
      const ids = Array.from({ length: 10 }, (_, at) => `${burst}-${at}`);
      await Promise.all(ids.map(async (id) => (await claim(id)) && say(id)));
    }
  } catch {
    await store.close();
  }
}

/** Claims a thousand ids at once on a signal on standard input and prints those it won. */
async function race(): Promise<void> {
  await once(process.stdin, 'data');
  const ids = Array.from({ length: 1000 }, (_, at) => `id-${at}`);
  await Promise.all(ids.map(async (id) => (await claim(id)) && say(id)));
  await store.close();
  process.stdin.destroy();
}

/** Claims an id and then does nothing; the store stays open. */
async function leave(): Promise<void> {
  if (await claim('last')) say('last');
}

/** Holds a lease as long as possible and prints when it is lost. */
async function holdLease(): Promise<void> {
  const lease = await store.leases.take('turn', 1_000);
  say(lease === null ? 'refused' : 'held');
  const look = setInterval(() => {
    if (lease?.isHeld() === true) return;
    clearInterval(look);
    say('lost');
  }, 10);
}

say('open');
if (role === 'hold') hold();
else if (role === 'write') await write();
else if (role === 'leave') await leave();
else if (role === 'lease') await holdLease();
else await race();
