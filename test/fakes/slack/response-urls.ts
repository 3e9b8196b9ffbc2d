import { randomBytes } from 'node:crypto';
import { response } from './answers.ts';
import { checked } from './form.ts';
import { checkedContents, post } from './posting.ts';
import type { Json, Message } from './records.ts';
import { Refusal } from './refusal.ts';
import type { World } from './world.ts';

/** "Up to five times … within 30 minutes": interactivity/handling-user-interaction "Message responses". */
const MAX_USES = 5;
const LIVES_MS = 30 * 60_000;

interface ResponseUrl {
  readonly channelId: string;
  readonly userId: string;
  /** The message of the pressed button. */
  readonly messageTs: string | null;
  readonly atMs: number;
  uses: number;
  /** Messages that it posted or replaced. */
  readonly messages: Message[];
  /** Expired by a test: using it is not the app's error. */
  isEnded: boolean;
}

/** Response URLs, through which the app may respond to an interaction later. */
export class ResponseUrls {
  readonly #world: World;
  readonly #urls = new Map<string, ResponseUrl>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Creates a response URL. */
  make(holder: Pick<ResponseUrl, 'channelId' | 'userId' | 'messageTs'>): string {
    const key = randomBytes(12).toString('hex');
    this.#urls.set(key, { ...holder, atMs: this.#world.clock.now(), uses: 0, messages: [], isEnded: false });
    return `${this.#world.origin()}/response/${key}`;
  }

  /** Returns the number of uses of a response URL. */
  usesOf(address: string): number {
    return this.#urls.get(address.slice(address.lastIndexOf('/') + 1))?.uses ?? 0;
  }

  /** Returns the messages that a response URL posted or replaced, in their order. */
  messagesOf(address: string): readonly Message[] {
    return this.#urls.get(address.slice(address.lastIndexOf('/') + 1))?.messages ?? [];
  }

  /** Expires all response URLs. */
  end(): void {
    for (const one of this.#urls.values()) one.isEnded = true;
  }

  /** Applies a request to a response URL. @throws Refusal with status 404 */
  use(key: string, body: Json): void {
    const world = this.#world;
    const url = this.#urls.get(key);
    if (url === undefined) throw gone('expired_url', 'an unknown response_url');
    if (url.isEnded) throw gone('expired_url', null);
    if (world.clock.now() - url.atMs > LIVES_MS) throw gone('expired_url', 'a response_url used after 30 minutes');
    if (url.uses >= MAX_USES) throw gone('used_url', 'a response_url used more than five times');
    url.uses += 1;
    const what = 'use of a response_url';
    const form = checked(response, body, { what });
    const original = url.messageTs === null ? undefined : world.messages.get(url.messageTs);
    if (form.delete_original === true && original !== undefined) {
      original.isDeleted = true;
      return;
    }
    const contents = checkedContents(world, form, { what });
    if (form.replace_original === true && original !== undefined) {
      replace(original, contents);
      url.messages.push(original);
      return;
    }
    const channel = world.channel(url.channelId);
    const authorId = world.team(channel.teamId).botUserId;
    const visibleTo = form.response_type === 'in_channel' ? null : url.userId;
    url.messages.push(post(world, { channel, authorId, threadTs: form.thread_ts ?? null, visibleTo }, contents));
  }
}

function replace(message: Message, { text, blocks }: Pick<Message, 'text' | 'blocks'>): void {
  message.text = text;
  message.blocks = blocks;
  message.edits += 1;
}

const gone = (error: string, violation: string | null): Refusal =>
  new Refusal(error, { status: 404, ...(violation === null ? {} : { violation }) });
