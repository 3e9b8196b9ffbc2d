/**
 * A process that uses a store, for tests of several processes and of sudden death:
 * `node store-process.ts URL hold|write|claim|leave|lease`. It logs on standard output, says `open` once it has the store open, and
 * every line from then on is a key that the store has acknowledged.
 */
import { once } from 'node:events';
import { pino } from 'pino';
import { openStore } from '#src/store/open.ts';

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

/** Holds the store until it is killed. */
function hold(): void {
  setInterval(() => undefined, 60_000);
}

/** Claims in bursts until one is refused, and names each claim once it is acknowledged. */
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

/** At a word on standard input, claims a thousand ids at once and names those it won. */
async function race(): Promise<void> {
  await once(process.stdin, 'data');
  const ids = Array.from({ length: 1000 }, (_, at) => `id-${at}`);
  await Promise.all(ids.map(async (id) => (await claim(id)) && say(id)));
  await store.close();
  process.stdin.destroy();
}

/** Claims an id and has nothing more to do; the store stays open. */
async function leave(): Promise<void> {
  if (await claim('last')) say('last');
}

/** Holds a lease for as long as it can, and says when it is lost. */
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
