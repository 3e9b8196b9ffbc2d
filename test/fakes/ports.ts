import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Ports below those that Linux gives to outgoing connections and to servers that ask for any (from 32768): one of
 * those may be taken between the moment in which it was found free and the start of the program that is to use it.
 */
const FIRST = 20_000;
const COUNT = 12_000;
/** Ports of one process before those of the next: processes of one run have ids that are close to each other. */
const STRIDE = 97;

let given = 0;

/** Returns a port of 127.0.0.1 for a program that has to be told one, or that returns to it; each at most once. */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < COUNT; tried += 1) {
    const port = FIRST + ((process.pid * STRIDE + given) % COUNT);
    given += 1;
    if (await isFree(port)) return port;
  }
  throw new Error(`no port from ${FIRST} to ${FIRST + COUNT} is free`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
