import { once } from 'node:events';
import { createServer, connect as dial, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../fakes/ports.ts';
import type { Cut } from './plan.ts';

const SLOW_MS = 400;

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
}

/** TCP proxy between one replica and one server, which can be cut. */
export class Road {
  readonly #target: number;
  readonly #pairs = new Set<Pair>();
  #server: Server;
  #cut: Cut | null = null;
  readonly port: number;

  private constructor(target: number, port: number) {
    this.#target = target;
    this.port = port;
    this.#server = createServer();
  }

  /** Starts a proxy to `target`, a port of 127.0.0.1. */
  static async start(target: number): Promise<Road> {
    const road = new Road(target, await freePort());
    await road.#listen();
    return road;
  }

  /** Cuts the connection, in place of a cut that may still last. */
  cut(how: Cut): void {
    if (how !== 'silent') this.#closeIncomplete();
    this.#cut = how;
    if (how === 'silent' || how === 'slow') return;
    for (const { near, far } of this.#pairs) for (const socket of [near, far]) socket.resetAndDestroy();
    // Without a listener, the operating system itself refuses the connection.
    if (how === 'refuse') this.#server.close();
  }

  /** Restores the connection. */
  async mend(): Promise<void> {
    this.#closeIncomplete();
    this.#cut = null;
    // Any of several overlapping cuts may have closed it.
    if (!this.#server.listening) await this.#listen();
  }

  /**
   * Closes the connections whose bytes a silent cut swallowed: TCP never delivers what follows a gap, and the replies on
   * such a connection would be taken for those to other commands.
   */
  #closeIncomplete(): void {
    if (this.#cut !== 'silent') return;
    for (const { near, far } of this.#pairs) for (const socket of [near, far]) socket.destroy();
  }

  async close(): Promise<void> {
    for (const { near, far } of this.#pairs) for (const socket of [near, far]) socket.destroy();
    if (!this.#server.listening) return;
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #listen(): Promise<void> {
    this.#server = createServer({ allowHalfOpen: true }, (near) => this.#join(near));
    this.#server.listen(this.port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  #join(near: Socket): void {
    if (this.#cut === 'reset') {
      near.on('error', () => undefined).resetAndDestroy();
      return;
    }
    const pair = { near, far: dial({ port: this.#target, host: '127.0.0.1', allowHalfOpen: true, noDelay: true }) };
    near.setNoDelay(true);
    this.#pairs.add(pair);
    this.#pipe(pair, near, pair.far);
    this.#pipe(pair, pair.far, near);
  }

  #pipe(pair: Pair, from: Socket, to: Socket): void {
    let inOrder = Promise.resolve();
    const pass = (write: () => void): void => {
      if (this.#cut === 'silent') return;
      if (this.#cut === 'slow') inOrder = inOrder.then(() => delay(SLOW_MS));
      void inOrder.then(() => {
        if (!to.destroyed && this.#cut !== 'silent') write();
      });
    };
    from.on('data', (bytes: Buffer) => pass(() => to.write(bytes)));
    from.on('end', () => pass(() => to.end()));
    from.on('error', () => to.resetAndDestroy());
    from.on('close', () => {
      if (pair.near.destroyed && pair.far.destroyed) this.#pairs.delete(pair);
      // With a silent cut, the other side does not notice that the connection is gone.
      if (this.#cut !== 'silent') void inOrder.then(() => to.destroy());
    });
  }
}
