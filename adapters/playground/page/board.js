import { useEffect, useMemo, useReducer } from 'preact/hooks';
import { useListener } from '#src/http/shared-page/events.js';
import { connectionReturned, read, readMessages } from './api.js';
import { isPending } from './messages/phases.js';
import { keep, recall } from './storage.js';

const PAGE = 100;
/** Largest page, read on reconnect. */
const MAX_PAGE = 1000;
const FIRST_RECONNECT_MS = 500;
const MAX_RECONNECT_MS = 10_000;

/**
 * The messages on display, synchronized with the server: a window of a channel, usually its end. A broken connection
 * loses nothing: whenever the stream (re)opens, the window is reloaded, and of two versions of a message the one with
 * the higher `revision` wins.
 */
class Board {
  connection = 'connecting';
  channels = [];
  /** Channels with unread messages. */
  unread = new Set();
  isLoaded = false;
  hasEarlier = false;
  /** True: the window ends before the channel does. */
  hasLater = false;
  /** Latest new message, or one whose task has ended, for screen readers and the window's title. */
  latest = null;
  /** `order` of the last message read before this visit; `null`: the first visit. */
  readUpTo;
  #messages = new Map();
  #receivedWhileReading = new Set();
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

  /** Messages of the channel itself. */
  get messages() {
    return this.threadOf(null);
  }

  /** Returns the messages in the thread of a storyboard's card; of the channel itself for `null`. */
  threadOf(card) {
    const found = [...this.#messages.values()].filter(({ thread }) => (thread?.card ?? null) === card);
    // Two replicas may assign the same order; ties are broken as on the server.
    return found.sort((one, other) => one.order - other.order || (one.id < other.id ? -1 : 1));
  }

  /** `order` of the last message, in threads as well; `undefined` without any. */
  get #newest() {
    const orders = [...this.#messages.values()].map(({ order }) => order);
    return orders.length === 0 ? undefined : Math.max(...orders);
  }

  find(id) {
    return this.#messages.get(id);
  }

  connect() {
    const source = new EventSource(`/playground/events?${new URLSearchParams({ user: this.user })}`);
    this.source = source;
    source.addEventListener('hello', () => void this.#onOpen());
    source.addEventListener('message', ({ data }) => this.#onMessage(JSON.parse(data)));
    source.addEventListener('gone', ({ data }) => this.#remove(JSON.parse(data).id));
    source.addEventListener('error', () => this.#onError(source));
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

  /** Adds the page after the window. */
  readLater() {
    return this.#readMore('after', this.messages.at(-1));
  }

  async showEnd() {
    if (this.hasLater) await this.#show({ limit: String(PAGE) });
  }

  /** Moves the window to a message. @returns whether the message exists. */
  async showAround(id) {
    if (this.#messages.has(id)) return true;
    await this.#show({ around: id, limit: String(PAGE) });
    return this.#messages.has(id);
  }

  markRead() {
    const newest = this.#newest;
    if (newest !== undefined && !this.hasLater) keep(this.#readKey, newest);
  }

  /** Places the "New" divider above all later messages. */
  leave() {
    this.readUpTo = this.#newest ?? this.readUpTo;
  }

  async #show(query) {
    const page = await this.#fetch(query);
    if (page === null) return;
    this.#messages.clear();
    this.#merge(page);
  }

  async #readMore(direction, from) {
    if (from === undefined || this.#readingMore) return;
    this.#readingMore = true;
    const page = await this.#fetch({ [direction]: from.id, limit: String(PAGE) });
    this.#readingMore = false;
    if (page === null) return;
    for (const message of page.messages) this.#store(message);
    if (direction === 'before') this.hasEarlier = page.hasEarlier;
    else this.hasLater = page.hasLater;
    this.changed();
  }

  async #onOpen() {
    this.#reconnectMs = FIRST_RECONNECT_MS;
    if (!(await this.#reload())) return;
    this.connection = 'live';
    connectionReturned();
    this.changed();
  }

  /** Reloads the window. @returns whether the server responded. */
  async #reload() {
    this.#receivedWhileReading.clear();
    const shown = this.messages;
    const limit = String(Math.min(Math.max(PAGE, shown.length), MAX_PAGE));
    const middle = shown[Math.floor(shown.length / 2)];
    const around = this.hasLater && middle !== undefined ? { around: middle.id } : {};
    const page = (await this.#fetch({ ...around, limit })) ?? (await this.#fetch({ limit }));
    const channels = await read('channels').catch(() => null);
    if (page === null || channels === null) {
      this.#onError(this.source);
      return false;
    }
    const known = new Set(page.messages.map(({ id }) => id));
    for (const id of this.#messages.keys()) {
      if (!known.has(id) && !this.#receivedWhileReading.has(id)) this.#messages.delete(id);
    }
    this.channels = channels;
    this.#merge(page);
    return true;
  }

  #merge(page) {
    for (const message of page.messages) this.#store(message);
    this.hasEarlier = page.hasEarlier;
    this.hasLater = page.hasLater;
    this.isLoaded = true;
    this.changed();
  }

  /** Reads a page of this channel; returns `null` on failure. */
  #fetch(query) {
    const { channel, user } = this;
    return readMessages({ channel, user, threads: 'grouped', ...query }).catch(() => null);
  }

  #onMessage(message) {
    if (!this.channels.includes(message.channel)) this.channels = [...this.channels, message.channel];
    if (message.channel !== this.channel) {
      if (message.revision === 1 || hasClip(message)) this.unread.add(message.channel);
      return this.changed();
    }
    this.#receivedWhileReading.add(message.id);
    const before = this.#messages.get(message.id);
    const isOther = before !== undefined && (before.state !== message.state || isInProgress(before));
    const isOver = isOther && !isInProgress(message);
    if (before === undefined || isOver) this.latest = message;
    // A window that ends before the channel does takes no newer messages, which would leave a gap.
    const isInWindow = message.thread === null ? !this.hasLater : this.#messages.has(message.thread.card);
    if (before !== undefined || isInWindow) this.#store(message);
    this.changed();
  }

  #store(message) {
    const before = this.#messages.get(message.id);
    if (before === undefined || before.revision < message.revision) this.#messages.set(message.id, message);
  }

  #remove(id) {
    this.#messages.delete(id);
    this.changed();
  }

  /** Reconnects where the browser does not: it retries after most errors, but not after a status other than 200. */
  #onError(source) {
    if (source !== this.source) return;
    this.connection = 'lost';
    this.changed();
    if (source.readyState !== EventSource.CLOSED && this.isLoaded) return;
    source.close();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.connect(), this.#reconnectMs);
    this.#reconnectMs = Math.min(this.#reconnectMs * 2, MAX_RECONNECT_MS);
  }
}

/** Returns whether a message shows a clip that is still to come, on the card of a set any of them. */
function isInProgress({ clip, tasks = [] }) {
  return isPending(clip) || tasks.some((one) => isPending(one.clip ?? null));
}

function hasClip({ state, tasks = [] }) {
  return state === 'completed' || tasks.some((one) => one.state === 'completed');
}

/**
 * Returns the live messages of a channel as its user sees them, while the component is mounted.
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
  useListener('visibilitychange', () => document.hidden && board.leave(), document);
  return board;
}
