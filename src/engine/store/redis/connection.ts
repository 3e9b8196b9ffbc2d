import { createClient, type RedisClientOptions, type RedisClientType } from '@keyv/redis';
import { type Clock, within } from '../../../clock.ts';
import { DailiesError } from '../../../errors.ts';
import { storeUnavailable } from '../failure.ts';
import type { StoreDeps } from '../store.ts';
import { Outage, type RedisOutages, UnconfirmedWrite } from './errors.ts';

/** Timeout of the first connection, and of every call. */
const TIMEOUT_MS = 5_000;
const NO_ANSWER = `no answer within ${TIMEOUT_MS} ms`;
/**
 * Ping interval of an idle connection. A half-open connection is detected within {@link TIMEOUT_MS} of the last byte
 * written to it, also while connecting.
 */
const PING_MS = 2_000;
/** Minimum interval between two reconnects away from a Redis that reported being a replica. */
const LEAVE_REPLICA_MS = 1_000;
const MAX_BACKOFF_MS = 1_000;
/** Timeout of a silent connection on which commands block: longer than any of them does (10 seconds). */
const BLOCKING_TIMEOUT_MS = 15_000;

/** Options of {@link RedisConnection.open}. */
interface RedisConnectionOptions extends StoreDeps {
  /** Default: those of the store. */
  readonly outages?: RedisOutages;
}

/** The connections to one Redis: where one finds out that it is a replica, all leave it. */
interface Family {
  readonly members: Set<RedisConnection>;
  readonly outages: RedisOutages;
  leftReplicaAtMs: number;
  /** Another departure is due, of the connections that the last one led to the old Redis. */
  isLeaving: boolean;
}

/**
 * A connection to Redis that reconnects, and whose calls have a timeout. While it is disconnected, calls are rejected
 * at once and none is queued: a claim must not be written after its caller was notified that it failed.
 */
export class RedisConnection {
  readonly client: RedisClientType;
  /** Resolves once a first connection was made, or none will ever be. */
  readonly connected: Promise<unknown>;
  readonly #clock: Clock;
  readonly #family: Family;
  readonly #inFlight = new Set<Promise<unknown>>();
  #isClosed = false;
  /** Reason for the missing connection; `null` while connected. */
  #disconnectReason: unknown = NO_ANSWER;

  private constructor(client: RedisClientType, clock: Clock, family: Family) {
    this.client = client;
    this.#clock = clock;
    this.#family = family;
    family.members.add(this);
    // The adapter of every namespace listens, too.
    client.setMaxListeners(0);
    client.on('error', (error: unknown) => {
      // An error reply to a ping says nothing about the connection, nor does closing it ourselves.
      if (!client.isReady) this.#disconnectReason = reasonIn(error) ?? this.#disconnectReason;
    });
    client.on('ready', () => {
      this.#disconnectReason = null;
    });
    this.connected = this.#connect();
  }

  /**
   * Connects to the Redis at `url` (`redis://` or `rediss://`).
   * @throws `store_unavailable` when that took more than 5 seconds; the message never contains the password.
   */
  static async open(url: string, { clock, logger, outages }: RedisConnectionOptions): Promise<RedisConnection> {
    const client: RedisClientType = createClient({
      url,
      disableOfflineQueue: true,
      pingInterval: PING_MS,
      socket: { socketTimeout: TIMEOUT_MS, reconnectStrategy: (tries) => Math.min(50 * 2 ** tries, MAX_BACKOFF_MS) },
    });
    const family = { members: new Set<RedisConnection>(), leftReplicaAtMs: -Infinity, isLeaving: false };
    const link = new RedisConnection(client, clock, { ...family, outages: outages ?? storeOutages({ clock, logger }) });
    link.#logOutages();
    await within<unknown>(clock, TIMEOUT_MS, link.connected, null);
    if (client.isReady) return link;
    const failure = storeUnavailable('connecting to Redis', link.#disconnectReason);
    await link.close();
    throw failure;
  }

  /**
   * Opens another connection to the same Redis, so that neither waits for the calls of the other. It is still
   * connecting when this returns; only the original connection logs that Redis is unreachable.
   */
  beside(overrides: Pick<RedisClientOptions, 'name' | 'disableOfflineQueue' | 'socket'> = {}): RedisConnection {
    return new RedisConnection(this.client.duplicate(overrides), this.#clock, this.#family);
  }

  /**
   * Opens another connection as {@link beside} does, for commands that block. Its calls, and those of connections
   * opened beside it, wait until it is connected.
   */
  besideForBlocking(): RedisConnection {
    const socket = { ...this.client.options?.socket, socketTimeout: BLOCKING_TIMEOUT_MS };
    return this.beside({ disableOfflineQueue: false, socket });
  }

  /**
   * Runs one call with a timeout. After a timeout it is unknown whether Redis executed it.
   * @throws `store_unavailable` when it failed, after 5 seconds at the latest.
   */
  async call<T>(operation: string, run: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw storeUnavailable(operation, 'the store is closed');
    if (!this.client.isReady) throw storeUnavailable(operation, this.#disconnectReason);
    const reply = run();
    this.#inFlight.add(reply);
    const { promise: timedOut, reject } = Promise.withResolvers<never>();
    const cancel = this.#clock.after(TIMEOUT_MS, () => {
      const reason = new Error(NO_ANSWER);
      reject(reason);
      this.#reconnect(reason);
    });
    try {
      return await Promise.race([reply, timedOut]);
    } catch (thrown) {
      throw thrown instanceof DailiesError ? thrown : storeUnavailable(operation, this.#explain(thrown));
    } finally {
      cancel();
      this.#inFlight.delete(reply);
    }
  }

  /** Takes note that Redis accepted a write. */
  accepted(): void {
    this.#family.outages.rejecting.end();
  }

  /**
   * Takes note of the error of a call: logs a rejection, and leaves a Redis that reports being a replica.
   * @returns the rejection; `null` for an error that is none.
   */
  failed(thrown: unknown): RedisRejection | null {
    const rejection = redisRejectionOf(thrown);
    if (rejection === null) return null;
    this.#family.outages.rejecting.begin(rejection.sentence);
    if (rejection.isElsewhere) this.#leaveReplica(new Error(rejection.sentence, { cause: thrown }));
    return rejection;
  }

  /** Waits for the calls in flight, then disconnects. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#family.members.delete(this);
    await Promise.allSettled(this.#inFlight);
    // BullMQ closes the connection of its workers by itself.
    if (this.client.isOpen) this.client.destroy();
  }

  #logOutages(): void {
    const { unreachable } = this.#family.outages;
    let isLost = false;
    this.client.on('error', () => {
      // Closing the connection is not an outage.
      if (this.#isClosed || this.client.isReady) return;
      isLost = true;
      unreachable.begin(String(this.#disconnectReason));
    });
    this.client.on('ready', () => {
      if (isLost) unreachable.end();
      isLost = false;
    });
  }

  /** Resolves once connected, or once closed; failures meanwhile are emitted as 'error'. */
  #connect(): Promise<unknown> {
    return this.client.connect().catch(() => undefined);
  }

  /** Replaces a connection after a timeout: it may be half-open, and the next calls would time out, too. */
  #reconnect(reason: Error): void {
    if (!this.client.isReady) return;
    this.#disconnectReason = reason;
    this.client.destroy();
    void this.#connect();
  }

  /**
   * Returns the reason of a failed call; where Redis rejected a write, with a message that says what to do about it.
   */
  #explain(thrown: unknown): unknown {
    const rejection = this.failed(thrown);
    return rejection === null ? (this.#disconnectReason ?? thrown) : new Error(rejection.sentence, { cause: thrown });
  }

  #leaveReplica(reason: Error): void {
    const family = this.#family;
    if (family.isLeaving) return;
    const nowMs = this.#clock.monotonic();
    const waitMs = family.leftReplicaAtMs + LEAVE_REPLICA_MS - nowMs;
    if (waitMs <= 0) {
      family.leftReplicaAtMs = nowMs;
      for (const member of family.members) member.#reconnect(reason);
      return;
    }
    // The last departure has led a connection to the old Redis again; the others may have found the primary.
    family.isLeaving = true;
    this.#clock.after(waitMs, () => {
      family.isLeaving = false;
      family.leftReplicaAtMs = this.#clock.monotonic();
      for (const member of family.members) void member.#leaveIfReplica(reason);
    });
  }

  async #leaveIfReplica(reason: Error): Promise<void> {
    // One that cannot be asked connects anew by itself.
    const role = await this.client.sendCommand(['ROLE']).catch(() => null);
    if (Array.isArray(role) && String(role[0]) === 'slave') this.#reconnect(reason);
  }
}

/** Reason for which a reachable Redis rejects a write. */
interface RedisRejection {
  /** The problem and the operator's remedy, in one sentence. */
  readonly sentence: string;
  /** True if a new connection may reach a Redis that accepts it: the host name in STORE_URL follows a failover. */
  readonly isElsewhere: boolean;
}

const NOT_THE_PRIMARY =
  'this Redis is a replica and takes no writes: wait for the failover to end (the address in STORE_URL is looked up ' +
  'anew), or have STORE_URL lead to the primary';

/**
 * Sentences by the first word of the error reply.
 * @see {@link https://redis.io/docs/latest/develop/reference/protocol-spec/#simple-errors}
 */
const SENTENCES: Readonly<Record<string, string>> = {
  OOM: 'Redis is full: raise its maxmemory, or remove from it what is not of Dailies',
  READONLY: NOT_THE_PRIMARY,
  MASTERDOWN: NOT_THE_PRIMARY,
  MISCONF: 'Redis cannot write to its disk, and takes no writes until it can: make room there; its log says more',
  NOREPLICAS: 'Redis has fewer replicas than its min-replicas-to-write: attach the missing ones again',
  LOADING: 'Redis is still reading its data after a start: wait until it has',
};

/**
 * Returns the rejection that an error of the client stands for; `null` where it concerns the connection or the one
 * call.
 */
function redisRejectionOf(thrown: unknown): RedisRejection | null {
  if (thrown instanceof UnconfirmedWrite) return { sentence: thrown.message, isElsewhere: false };
  const [word = ''] = thrown instanceof Error ? thrown.message.split(' ', 1) : [];
  const sentence = SENTENCES[word];
  return sentence === undefined ? null : { sentence, isElsewhere: sentence === NOT_THE_PRIMARY };
}

function storeOutages({ clock, logger }: StoreDeps): RedisOutages {
  return {
    unreachable: new Outage({
      clock,
      begin: (reason) =>
        logger.warn({ event: 'redis_unreachable', reason }, 'lost the connection to Redis; reconnecting'),
      end: () => logger.info({ event: 'redis_reconnected' }, 'reconnected to Redis'),
    }),
    rejecting: new Outage({
      clock,
      begin: (reason) =>
        logger.error({ event: 'redis_writes_rejected', reason }, 'Redis rejects writes; nothing can be created'),
      end: () => logger.info({ event: 'redis_writes_accepted' }, 'Redis accepts writes again'),
    }),
  };
}

/** Returns the reason in an error of the client; `null` where we closed the connection ourselves. */
function reasonIn(error: unknown): unknown {
  const name = error instanceof Error ? error.constructor.name : '';
  if (name === 'DisconnectsClientError') return null;
  return name === 'SocketTimeoutError' || name === 'SocketTimeoutDuringMaintenanceError' ? new Error(NO_ANSWER) : error;
}
