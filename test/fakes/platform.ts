import type { ApprovalNotice, EndNotice, ReviewNotice } from '#src/chat/notices/views.ts';
import type {
  Attached,
  Channels,
  MemberRights,
  MessageRef,
  MissingRight,
  Notice,
  Platform,
  PlatformLimits,
  Upload,
} from '#src/chat/platform.ts';
import {
  type CardView,
  type CutView,
  isCardView,
  type RemovedView,
  type SetView,
  type TaskView,
  type View,
} from '#src/chat/view.ts';
import { DailiesError, type ErrorCode, type ErrorDetails } from '#src/errors.ts';
import type { Audience, Origin, Person, TaskId } from '#src/tasks/task.ts';

type Method = 'open' | 'edit' | 'attach' | 'notify' | 'retract' | 'expire' | 'forget';

/** What a card shows, with the fields of every kind, so that tests can look for what a kind does not have. */
export type ShownCard = CardView & Partial<Omit<TaskView, 'kind'> & Omit<SetView, 'kind'> & Omit<CutView, 'kind'>>;

/** Message of a task on a {@link FakePlatform}. */
export interface FakeMessage {
  readonly ref: MessageRef;
  readonly task: TaskId;
  /** Where it was opened. */
  readonly origin: Origin;
  readonly files: Upload[];
  /** Every view shown, oldest first, and the kind of call. */
  readonly shown: { readonly view: ShownCard; readonly by: 'open' | 'progress' | 'final' | 'attach' }[];
  isDeleted: boolean;
}

/** A fault that occurs once. */
interface Fault {
  readonly method: Method;
  /** Before the platform acted, or afterwards, so that only the response is lost. */
  readonly when: 'before' | 'after';
  readonly happens: () => Promise<void>;
  readonly applies: (of: string) => boolean;
}

/** Creates an error of a platform, retryable by default. */
export function platformError(code: ErrorCode, details: Partial<ErrorDetails> = {}): DailiesError {
  return new DailiesError(`calling the fake platform: ${code}`, { code, retryable: true, ...details });
}

/**
 * An in-memory platform that follows the port strictly: one message per task, one file per name on a message, one
 * notice per key, no edit of a deleted message, no file above its limit.
 */
export class FakePlatform implements Platform {
  readonly name: string;
  limits: PlatformLimits = {
    uploadBytes: 10_000,
    editIntervalMs: 0,
    textLength: 2_000,
    showsState: true,
    hasDirectMessages: true,
    mentionsWithFile: false,
    drawsCharts: false,
  };
  /** Upload size that it actually accepts, regardless of {@link limits}. */
  takesBytes = Number.POSITIVE_INFINITY;
  /** Refusal to replace the content of a message that a file was attached to; `null`: none. */
  refusesToShow: DailiesError | null = null;
  lacking: MissingRight | null = null;
  /** Users who left the team. */
  readonly left = new Set<string>();
  /** Channels that take no message any more, with the error of a post there. */
  readonly closed = new Map<string, ErrorCode>();
  /** Audience by channel. Default: the team. */
  readonly audiences = new Map<string, Audience | 'unknown' | Error>();
  /** Rights of every member by channel. Default: all rights. */
  readonly memberRights = new Map<string, MemberRights>();
  readonly messages: FakeMessage[] = [];
  readonly notices: Notice[] = [];
  /** Members by role or user group. */
  readonly groups = new Map<string, readonly string[]>();
  /** Edits of the notices to approvers. */
  readonly settled: { readonly ref: MessageRef; readonly view: ApprovalNotice }[] = [];
  /** Keys of notices whose messages were deleted. */
  readonly gone = new Set<string>();
  /** Edits of the notices about ends and reviews. */
  readonly erased: { readonly ref: MessageRef; readonly view: EndNotice | ReviewNotice }[] = [];
  /** Retracted messages, each once. */
  readonly expired: { readonly ref: MessageRef; readonly view: CardView | RemovedView }[] = [];
  readonly retracted: { readonly ref: MessageRef; readonly view: RemovedView }[] = [];
  /** Every call, as `method argument`. */
  readonly calls: string[] = [];
  readonly #faults: Fault[] = [];

  constructor(name = 'fake') {
    this.name = name;
  }

  /** Makes the next such call reject; `of` selects it: an urgency of an edit, a key of a notice, a task. */
  fails(method: Method, when: Fault['when'], error: DailiesError, of?: string): void {
    this.#inject(method, when, () => Promise.reject(error), of);
  }

  /** Simulates a crash in the next such call: it never returns. */
  dies(method: Method, when: Fault['when'], of?: string): void {
    this.#inject(method, when, () => new Promise(() => undefined), of);
  }

  /** Delays the next such call, or its response, until the returned function is called. */
  stalls(method: Method, of?: string, when: Fault['when'] = 'before'): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#inject(method, when, () => promise, of);
    return resolve;
  }

  /** Returns the message of the only task. */
  get only(): FakeMessage {
    const [message] = this.messages;
    if (message === undefined || this.messages.length > 1) throw new TypeError(`${this.messages.length} messages`);
    return message;
  }

  /** Returns the current view of the only message. */
  get view(): ShownCard {
    const last = this.only.shown.at(-1);
    if (last === undefined) throw new TypeError('a message that shows nothing');
    return last.view;
  }

  countOf(method: Method): number {
    return this.calls.filter((call) => call.startsWith(`${method} `)).length;
  }

  async open(task: TaskId, origin: Origin, view: View): Promise<MessageRef> {
    return this.#act('open', task, () => {
      const known = this.messages.find((message) => message.task === task);
      if (known !== undefined) return known.ref;
      this.#assertOpen(origin.channel);
      const ref = { channel: origin.channel, message: `m${this.messages.length + 1}` };
      const shown = [{ view: cardViewOf(view), by: 'open' as const }];
      this.messages.push({ ref, task, origin, files: [], shown, isDeleted: false });
      return ref;
    });
  }

  async edit(ref: MessageRef, _origin: Origin, view: View, urgency: 'progress' | 'final'): Promise<void> {
    return this.#act('edit', urgency, () => {
      if (this.retracted.some((one) => one.ref.message === ref.message))
        throw new TypeError(`editing ${ref.message}, which is retracted`);
      if (this.gone.has(ref.message)) throw platformError('message_gone', { retryable: false });
      if (view.kind === 'approval') return void this.settled.push({ ref, view });
      if (!isCardView(view)) return void this.erased.push({ ref, view });
      const message = this.#find(ref);
      message.shown.push({ view: cardViewOf(view), by: urgency });
      keepNamed(message, view);
    });
  }

  async attach(ref: MessageRef, _origin: Origin, view: View, file: Upload): Promise<Attached> {
    return this.#act('attach', file.name, () => {
      const message = this.#find(ref);
      if (file.bytes > this.takesBytes) throw platformError('too_large', { retryable: false });
      if (this.refusesToShow === null) message.shown.push({ view: cardViewOf(view), by: 'attach' });
      const position = message.files.findIndex(({ name }) => name === file.name);
      const known = message.files[position];
      // An existing file is not uploaded again and keeps its notice.
      const notice = known?.bytes === file.bytes ? known.notice : file.notice;
      message.files.splice(
        position < 0 ? message.files.length : position,
        1,
        notice === undefined ? file : { ...file, notice },
      );
      if (!this.limits.mentionsWithFile && notice !== undefined) throw new TypeError('a notice that nobody reads');
      keepNamed(message, view);
      const { refusesToShow: refusal } = this;
      return { isAnnounced: notice !== undefined, ...(refusal === null ? {} : { refusal }) };
    });
  }

  async notify(notice: Notice): Promise<MessageRef> {
    return this.#act('notify', notice.key, () => {
      if (!this.notices.some(({ key }) => key === notice.key)) {
        this.#assertOpen(notice.place.channel);
        this.notices.push(notice);
      }
      return { channel: notice.place.channel, message: notice.key };
    });
  }

  /** Users who were forgotten, by id. */
  readonly forgotten: string[] = [];

  forget(_team: string, person: Person): Promise<void> {
    return this.#act('forget', person.id, () => void this.forgotten.push(person.id));
  }

  async retract(ref: MessageRef, _origin: Origin, view: RemovedView): Promise<void> {
    return this.#act('retract', ref.message, () => {
      const message = this.messages.find((one) => one.ref.message === ref.message);
      if (message?.isDeleted === true) return;
      if (message === undefined && !this.notices.some(({ key }) => key === ref.message))
        throw new TypeError(`retracting ${ref.message}, which was never posted`);
      message?.files.splice(0);
      if (!this.retracted.some((one) => one.ref.message === ref.message)) this.retracted.push({ ref, view });
    });
  }

  async expire(ref: MessageRef, view: CardView | RemovedView): Promise<void> {
    return this.#act('expire', ref.message, () => {
      this.expired.push({ ref, view });
    });
  }

  async find(what: 'task' | 'notice', key: string): Promise<MessageRef | undefined> {
    if (what === 'task') return this.messages.find(({ task }) => task === key)?.ref;
    const notice = this.notices.find((one) => one.key === key);
    return notice === undefined ? undefined : { channel: notice.place.channel, message: key };
  }

  readonly channels: Channels = {
    missingRight: async () => this.lacking,
    audience: async ({ channel }) => {
      this.calls.push(`audience ${channel}`);
      const found = this.audiences.get(channel) ?? 'team';
      if (found instanceof Error) throw found;
      return found === 'unknown' ? null : found;
    },
    rights: async ({ channel }) => this.memberRights.get(channel) ?? { view: true, post: true, manage: true },
    isMember: async (_place, user) => !this.left.has(user),
    lastingAddress: (address) => Object.fromEntries(Object.entries(address).filter(([name]) => name !== 'token')),
    isInGroup: async (_place, group, user) => this.groups.get(group)?.includes(user) === true,
    directChannel: async (_place, user) => `direct-${user}`,
  };

  notReady(): string | null {
    return null;
  }

  async connection(): Promise<string> {
    return `${this.name}, in memory`;
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {}

  #inject(method: Method, when: Fault['when'], happens: () => Promise<void>, of?: string): void {
    this.#faults.push({ method, when, happens, applies: (what) => of === undefined || what.includes(of) });
  }

  async #act<Result>(method: Method, what: string, act: () => Result): Promise<Result> {
    this.calls.push(`${method} ${what}`);
    const position = this.#faults.findIndex((fault) => fault.method === method && fault.applies(what));
    const fault = position < 0 ? undefined : this.#faults.splice(position, 1)[0];
    if (fault?.when === 'before') await fault.happens();
    const result = act();
    if (fault?.when === 'after') await fault.happens();
    return result;
  }

  #assertOpen(channel: string): void {
    const code = this.closed.get(channel);
    if (code !== undefined) throw platformError(code, { retryable: false });
  }

  #find(ref: MessageRef): FakeMessage {
    const message = this.messages.find((one) => one.ref.message === ref.message);
    if (message === undefined || message.isDeleted) throw platformError('message_gone', { retryable: false });
    this.#assertOpen(ref.channel);
    return message;
  }
}

/** Keeps the files of a message that the card of a set names, as the port wants it. @throws TypeError for one that is not there */
function keepNamed({ files }: FakeMessage, view: View): void {
  if (view.kind !== 'set') return;
  const named = view.members.flatMap(({ file }) => file?.name ?? []);
  const missing = named.find((name) => !files.some((file) => file.name === name));
  if (missing !== undefined) throw new TypeError(`a card that names ${missing}, which is not on it`);
  files.splice(0, files.length, ...files.filter(({ name }) => named.includes(name)));
}

function cardViewOf(view: View): ShownCard {
  if (!isCardView(view)) throw new TypeError('a card shows a task, a set, or a cut');
  return structuredClone(view);
}
