import { once } from 'node:events';
import { createServer, connect as dial, type Server, type Socket } from 'node:net';

/** TCP proxy between a program and its server that holds back what the program sends, from the first data with a text on. */
export class HeldWire {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #text: string | null = null;
  #isHeld: (() => void) | null = null;
  #released = Promise.resolve();

  private constructor(target: number) {
    this.#server = createServer((near) => this.#join(near, dial({ port: target, host: '127.0.0.1', noDelay: true })));
  }

  /** Starts a proxy to `target`, a port of 127.0.0.1. */
  static async start(target: number): Promise<HeldWire> {
    const wire = new HeldWire(target);
    wire.#server.listen(0, '127.0.0.1');
    await once(wire.#server, 'listening');
    return wire;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new TypeError('the proxy does not listen');
    return address.port;
  }

  /**
   * Holds the next data with a text in them, once, and what its connection sends afterwards.
   * @returns `held`: resolves once it is held; `release`: lets it pass
   */
  hold(text: string): { readonly held: Promise<void>; readonly release: () => void } {
    const held = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    this.#text = text;
    this.#isHeld = held.resolve;
    this.#released = released.promise;
    return { held: held.promise, release: released.resolve };
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #join(near: Socket, far: Socket): void {
    near.setNoDelay(true);
    for (const socket of [near, far]) {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', () => undefined);
    }
    let before = '';
    let passed = Promise.resolve();
    near.on('data', (bytes: Buffer) => {
      // The text may be in two pieces: without the second one, the server does nothing.
      before = `${before.slice(-(this.#text ?? '').length)}${bytes.toString('latin1')}`;
      if (this.#text !== null && before.includes(this.#text)) {
        this.#text = null;
        this.#isHeld?.();
        const released = this.#released;
        passed = passed.then(() => released);
      }
      passed = passed.then(() => void far.write(bytes));
    });
    near.on('end', () => void passed.then(() => far.end()));
    near.on('close', () => far.destroy());
    far.on('data', (bytes: Buffer) => near.write(bytes));
    far.on('end', () => near.end());
    far.on('close', () => near.destroy());
  }
}
