import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/**
 * TCP proxy to a local server that simulates a network partition: no data passes in either direction, new connections
 * are accepted but stay idle, and neither side is notified.
 */
export class SilentWay {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #toPort: number;
  #isSilent = false;
  #connections = 0;

  private constructor(server: Server, toPort: number) {
    this.#server = server;
    this.#toPort = toPort;
    server.on('connection', (near) => this.#join(near));
  }

  static async start(toPort: number): Promise<SilentWay> {
    const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new SilentWay(server, toPort);
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('it listens nowhere');
    return address.port;
  }

  /** Number of connections so far. */
  get connections(): number {
    return this.#connections;
  }

  /** Redirects new connections to another port, as DNS does after a failover; existing connections stay. */
  leadTo(port: number): void {
    this.#toPort = port;
  }

  silence(): void {
    this.#isSilent = true;
    for (const socket of this.#sockets) socket.pause();
  }

  /** @param which connections resume: `all`, with the data they buffered, or only new ones. */
  speak(which: 'all' | 'new'): void {
    this.#isSilent = false;
    if (which === 'all') for (const socket of this.#sockets) socket.resume();
  }

  /** Breaks every existing connection. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async remove(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #join(near: Socket): void {
    this.#connections += 1;
    const far = connect(this.#toPort, '127.0.0.1');
    far.pause();
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(from);
      from.on('data', (bytes) => void to.write(bytes));
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      if (this.#isSilent) from.pause();
      else from.resume();
    }
  }
}
