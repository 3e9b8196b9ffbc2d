import { useEffect, useMemo, useReducer } from 'preact/hooks';
import { connectionReturned, read, readMessages } from './api.js';
import { keep, recall } from './storage.js';

/** Messages of a channel that are read at once. */
const PAGE = 100;
/** Most messages that are read at once when the connection returns. */
const MAX_PAGE = 1000;
const FIRST_RECONNECT_MS = 500;
const SLOWEST_RECONNECT_MS = 10_000;

/**
 * The messages this page shows, kept in step with the server: a window of a channel, usually its end. Nothing is lost
 * by a broken connection: whenever the stream (re)opens, the window is read again, and of two states of a message the
 * one with the higher `revision` holds.
 */
class Board {
  connection = 'connecting';
  channels = [];
  /** Channels in which something happened that was not looked at. */
  unread = new Set();
  isLoaded = false;
  hasEarlier = false;
  /** Whether the window ends before the channel does. */
  hasLater = false;
  /** The message that last came in, or whose state last changed: for screen readers and the window's title. */
  latest = null;
  /** The `order` of the last message that was read before this visit; `null`: the first visit. */
  readUpTo;
  #messages = new Map();
  #arrivedWhileReading = new Set();
  #reconnectMs = FIRST_RECONNECT_MS;
  #readingMore = false;
  #readKey;

  constructor(user, channel, changed) {
    this.user = user;
    this.channel = channel;
    this.changed = changed;
    this.#readKey = `dailies.read.${user}.${channel}`;
    this.readUpTo = recall(this.#readKey, null);
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

  /** Adds the page before the window. */
  readEarlier() {
    return this.#readMore('before', this.messages[0]);
  }

  /** Adds the page behind the window. */
  readLater() {
    return this.#readMore('after', this.messages.at(-1));
  }

  /** Moves the window to the end of the channel. */
  async showEnd() {
    if (this.hasLater) await this.#show({ limit: String(PAGE) });
  }

  /** Moves the window to a message. @returns whether it is there. */
  async showAround(id) {
    if (this.#messages.has(id)) return true;
    await this.#show({ around: id, limit: String(PAGE) });
    return this.#messages.has(id);
  }

  /** Remembers that everything in the window was seen. */
  markRead() {
    const last = this.messages.at(-1);
    if (last !== undefined && !this.hasLater) keep(this.#readKey, last.order);
  }

  /** Draws the line above what comes from now on. */
  leave() {
    this.readUpTo = this.messages.at(-1)?.order ?? this.readUpTo;
  }

  async #show(query) {
    const page = await this.#fetch(query);
    if (page === null) return;
    this.#messages.clear();
    this.#take(page);
  }

  async #readMore(direction, from) {
    if (from === undefined || this.#readingMore) return;
    this.#readingMore = true;
    const page = await this.#fetch({ [direction]: from.id, limit: String(PAGE) });
    this.#readingMore = false;
    if (page === null) return;
    for (const message of page.messages) this.#keep(message);
    if (direction === 'before') this.hasEarlier = page.hasEarlier;
    else this.hasLater = page.hasLater;
    this.changed();
  }

  async #reopened() {
    this.#reconnectMs = FIRST_RECONNECT_MS;
    if (!(await this.#readAgain())) return;
    this.connection = 'live';
    connectionReturned();
    this.changed();
  }

  /** Reads the window again. @returns whether the server answered. */
  async #readAgain() {
    this.#arrivedWhileReading.clear();
    const shown = this.messages;
    const limit = String(Math.min(Math.max(PAGE, shown.length), MAX_PAGE));
    const middle = shown[Math.floor(shown.length / 2)];
    const around = this.hasLater && middle !== undefined ? { around: middle.id } : {};
    const page = (await this.#fetch({ ...around, limit })) ?? (await this.#fetch({ limit }));
    const channels = await read('channels').catch(() => null);
    if (page === null || channels === null) {
      this.#broke(this.source);
      return false;
    }
    const known = new Set(page.messages.map(({ id }) => id));
    for (const id of this.#messages.keys()) {
      if (!known.has(id) && !this.#arrivedWhileReading.has(id)) this.#messages.delete(id);
    }
    this.channels = channels;
    this.#take(page);
    return true;
  }

  #take(page) {
    for (const message of page.messages) this.#keep(message);
    this.hasEarlier = page.hasEarlier;
    this.hasLater = page.hasLater;
    this.isLoaded = true;
    this.changed();
  }

  /** A page of this channel; `null` where the server has no answer. */
  #fetch(query) {
    const { channel, user } = this;
    return readMessages({ channel, user, ...query }).catch(() => null);
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
    // A window that ends before the channel does takes no message from beyond its end.
    if (before !== undefined || !this.hasLater) this.#keep(message);
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
    const leave = () => document.hidden && board.leave();
    document.addEventListener('visibilitychange', leave);
    return () => {
      document.removeEventListener('visibilitychange', leave);
      board.close();
    };
  }, [board]);
  return board;
}
