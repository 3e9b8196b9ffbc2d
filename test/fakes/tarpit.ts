import { once } from 'node:events';
import { createServer, connect as dial, type Server, type Socket } from 'node:net';

/** TCP proxy to a local server; once frozen it accepts all data but forwards none. */
export class Tarpit {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isFrozen = false;
  /** True once data was received that gets no response. */
  isMet = false;

  private constructor(target: URL) {
    this.#server = createServer((near) => this.#join(near, Number(target.port)));
  }

  /** Starts a proxy to the server of `target`. */
  static async start(target: string): Promise<Tarpit> {
    const tarpit = new Tarpit(new URL(target));
    tarpit.#server.listen(0, '127.0.0.1');
    await once(tarpit.#server, 'listening');
    return tarpit;
  }

  /** Returns the URL with the proxy's port. */
  through(address: string): string {
    const url = new URL(address);
    const own = this.#server.address();
    if (own === null || typeof own === 'string') throw new TypeError('a tarpit without a port');
    url.port = String(own.port);
    return url.href;
  }

  /** Stops forwarding. */
  freeze(): void {
    this.#isFrozen = true;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #join(near: Socket, port: number): void {
    const far = dial(port, '127.0.0.1');
    this.#sockets.add(near).add(far);
    near.on('data', (bytes) => {
      if (this.#isFrozen) this.isMet = true;
      else far.write(bytes);
    });
    far.on('data', (bytes) => {
      if (!this.#isFrozen) near.write(bytes);
    });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
    }
  }
}
