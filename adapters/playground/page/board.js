import { useEffect, useMemo, useReducer } from 'preact/hooks';
import { read } from './api.js';

/** So many messages of a channel are read at first. */
const FIRST_PAGE = 200;
const SLOWEST_RECONNECT_MS = 10_000;

/**
 * The messages this page knows, kept in step with the server. Nothing is lost by a broken connection: whenever the
 * stream (re)opens, the channel is read again, and of two states of a message the one with the higher `revision` holds.
 */
class Board {
  connection = 'connecting';
  channels = [];
  /** Channels in which something happened that was not looked at. */
  unread = new Set();
  isLoaded = false;
  hasEarlier = false;
  /** The latest message that just came in: for screen readers, and for scrolling. */
  latest = null;
  #messages = new Map();
  #arrivedWhileReading = new Set();
  #limit = FIRST_PAGE;
  #reconnectMs = 500;

  constructor(user, channel, changed) {
    this.user = user;
    this.channel = channel;
    this.changed = changed;
  }

  get messages() {
    // Those that were written by two replicas at the same instant stand as the server has them.
    return [...this.#messages.values()].sort((one, other) => one.order - other.order || (one.id < other.id ? -1 : 1));
  }

  find(id) {
    return this.#messages.get(id);
  }

  connect() {
    const source = new EventSource(`/playground/events?${new URLSearchParams({ user: this.user })}`);
    this.source = source;
    source.addEventListener('hello', () => void this.#reopened());
    source.addEventListener('message', ({ data }) => this.#arrived(JSON.parse(data)));
    source.addEventListener('gone', ({ data }) => this.#forget(JSON.parse(data).id));
    source.addEventListener('error', () => this.#broke(source));
  }

  close() {
    clearTimeout(this.timer);
    this.source?.close();
    this.changed = () => {};
  }

  async readEarlier() {
    this.#limit *= 4;
    await this.#read();
  }

  async #reopened() {
    this.#reconnectMs = 500;
    await this.#read();
    this.connection = 'live';
    this.changed();
  }

  async #read() {
    this.#arrivedWhileReading.clear();
    const { channel, user } = this;
    const [messages, channels] = await Promise.all([
      read('messages', { channel, user, limit: String(this.#limit) }),
      read('channels'),
    ]).catch(() => [null, null]);
    if (messages === null) return this.#broke(this.source);
    const known = new Set(messages.map(({ id }) => id));
    for (const id of this.#messages.keys()) {
      if (!known.has(id) && !this.#arrivedWhileReading.has(id)) this.#messages.delete(id);
    }
    for (const message of messages) this.#keep(message);
    this.channels = channels;
    this.hasEarlier = messages.length >= this.#limit;
    this.isLoaded = true;
    this.changed();
  }

  #arrived(message) {
    if (!this.channels.includes(message.channel)) this.channels = [...this.channels, message.channel];
    if (message.channel !== this.channel) {
      if (message.revision === 1 || message.state === 'completed') this.unread.add(message.channel);
      return this.changed();
    }
    this.#arrivedWhileReading.add(message.id);
    const before = this.#messages.get(message.id);
    if (before === undefined || before.state !== message.state) this.latest = message;
    this.#keep(message);
    this.changed();
  }

  #keep(message) {
    const before = this.#messages.get(message.id);
    if (before === undefined || before.revision < message.revision) this.#messages.set(message.id, message);
  }

  #forget(id) {
    this.#messages.delete(id);
    this.changed();
  }

  /** A browser reconnects by itself after most breaks, but not after an answer other than 200. */
  #broke(source) {
    if (source !== this.source) return;
    this.connection = 'lost';
    this.changed();
    if (source.readyState !== EventSource.CLOSED && this.isLoaded) return;
    source.close();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.connect(), this.#reconnectMs);
    this.#reconnectMs = Math.min(this.#reconnectMs * 2, SLOWEST_RECONNECT_MS);
  }
}

/**
 * The board of one person in one channel, live for as long as it is shown.
 * @param {string} user
 * @param {string} channel
 */
export function useBoard(user, channel) {
  const [, changed] = useReducer((count) => count + 1, 0);
  const board = useMemo(() => new Board(user, channel, () => changed(undefined)), [user, channel]);
  useEffect(() => {
    board.connect();
    return () => board.close();
  }, [board]);
  return board;
}
