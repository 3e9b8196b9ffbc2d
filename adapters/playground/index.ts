import { join } from 'node:path';
import type { Adapter, AdapterDeps } from '#commands/adapter.ts';
import type { Bot } from '#commands/bot-port.ts';
import { cardOf } from '#commands/sentences/cards/task-card.ts';
import { capitalised } from '#commands/sentences/format.ts';
import { memberName } from '#commands/sentences/ordered.ts';
import { phaseWord } from '#commands/sentences/state-words.ts';
import {
  type AlsoRecorded,
  type Attached,
  type CardView,
  type Channels,
  isPending,
  type MemberRights,
  type MessageRef,
  type Notice,
  type Opened,
  type Place,
  type PlatformLimits,
  type RemovedView,
  type SetView,
  type TaskView,
  type Upload,
  type View,
} from '#src/chat/index.ts';
import { DailiesError } from '#src/errors.ts';
import { servePage } from '#src/http/index.ts';
import { deleteAbandonedParts } from '#src/media/index.ts';
import { isContentRemoved, type Origin, type Person, type TaskId, typedPrompt } from '#src/tasks/index.ts';
import { Guard, type GuardOptions } from './access.ts';
import { LiveStreams } from './event-stream.ts';
import { AttachmentFolder } from './files.ts';
import { InteractionHandler, messageIdOf } from './interactions.ts';
import { type MessageExpiryOptions, messageExpiry } from './message-expiry.ts';
import { type BoardFacts, type ClipFacts, type Message, MessageStore, NO_TASK } from './message-store.ts';
import { ResponseCache } from './response-cache.ts';
import { fileIn, forgetPerson, removeFromCard, replaceContent, retractMessage } from './retraction.ts';
import { addRoutes } from './routes.ts';

/** Options of {@link createPlayground}. */
export interface PlaygroundOptions
  extends GuardOptions,
    Pick<AdapterDeps, 'http' | 'store' | 'clock' | 'logger' | 'catalog' | 'clipOf' | 'posterOf' | 'clipLinks'> {
  /** Data folder of the process; attachments are stored in its `playground/`. */
  readonly dataDir: string;
  /** True: the embedded service renders the clips free of charge, and the page says so. */
  readonly isEmbeddedService: boolean;
  /** As in {@link MessageExpiryOptions}. */
  readonly promptsKeptMs: MessageExpiryOptions['promptsKeptMs'];
  /** Limit of interactions in flight. Default 5,000. */
  readonly maxInFlight?: number;
}

const PAGE = join(import.meta.dirname, 'page');

/** Channel that every page opens with. */
const FIRST_CHANNEL = 'general';
/** Listed on every page. */
const FIRST_CHANNELS: readonly string[] = [FIRST_CHANNEL, 'clips'];

/** Largest attachment: attachments stay on our own disk. */
const MAX_UPLOAD_BYTES = 2 * 1024 ** 3;

/** Creates the playground platform: a chat page in the browser, its HTTP API, and messages in the store. */
export function createPlayground(options: PlaygroundOptions): Adapter {
  return new Playground(options);
}

class Playground implements Adapter {
  readonly name = 'playground';
  readonly limits: PlatformLimits = {
    uploadBytes: MAX_UPLOAD_BYTES,
    editIntervalMs: 250,
    textLength: 4000,
    showsState: true,
    hasDirectMessages: false,
    mentionsWithFile: false,
    drawsCharts: false,
  };
  readonly channels: Channels = {
    missingRight: () => Promise.resolve(null),
    /** Users pick any name, and every channel is public. */
    audience: () => Promise.resolve('team'),
    rights: (place) => this.#rights(place),
    /** Users enter any name. */
    isMember: () => Promise.resolve(true),
    lastingAddress: () => ({}),
    isInGroup: () => Promise.resolve(false),
    /** The channel itself, or the first one: a message for one user is visible there to that user only. */
    directChannel: ({ channel }) => Promise.resolve(channel === '' ? FIRST_CHANNEL : channel),
  };
  readonly jobs: Adapter['jobs'];
  readonly #options: PlaygroundOptions;
  readonly #messages: MessageStore;
  readonly #files: AttachmentFolder;
  readonly #responses: ResponseCache;
  #phase: 'new' | 'open' | 'stopped' = 'new';

  constructor(options: PlaygroundOptions) {
    this.#options = options;
    const { store, clock } = options;
    this.#files = new AttachmentFolder(join(options.dataDir, 'playground'));
    this.#messages = new MessageStore(store, clock, this.#files);
    this.#responses = new ResponseCache(store, clock, options.maxInFlight);
    this.jobs = [messageExpiry({ ...options, messages: this.#messages, responses: this.#responses })];
  }

  serve(bot: Bot): void {
    const options = this.#options;
    const { http, clock, logger } = options;
    const [messages, files, responses] = [this.#messages, this.#files, this.#responses];
    const handler = new InteractionHandler({ bot, messages, responses, logger });
    const streams = new LiveStreams(messages, clock);
    const closed = (): string | null => this.notReady();
    // An encapsulated Fastify plugin: its hooks and parsers apply to the playground alone.
    http.register(async (scope) => {
      const guard = new Guard(options);
      scope.addHook('onRequest', guard.check);
      scope.addHook('preClose', () => streams.end());
      const { origin: mediaOrigin } = options.clipLinks;
      await servePage(scope, { folder: PAGE, path: '/', prefix: '/playground/', mediaOrigin });
      guard.addEntrance(scope);
      addRoutes(scope, { ...options, handler, messages, files, streams, closed });
    });
  }

  async open(task: TaskId, origin: Origin, view: View, also?: AlsoRecorded): Promise<Opened> {
    const { channel, replyTo: above } = origin;
    const replyTo = above === undefined ? null : { channel, message: above };
    const id = messageIdOf('task', task);
    const thread = await this.#threadOf(channel, replyTo, view);
    const { isRecorded } = await this.#messages.post(
      { id, channel, replyTo, ...thread, ...viewFields(view) },
      also?.({ channel, message: id }),
    );
    return { channel, message: id, ...(isRecorded === true ? { isRecorded } : {}) };
  }

  async edit(message: MessageRef, _origin: Origin, view: View, urgency: 'progress' | 'final'): Promise<void> {
    if (view.kind === 'set' && urgency === 'final') await removeFromCard(this.#messages, message, view);
    await this.#messages.change(message.message, (current) => {
      // A progress edit from a replica that was paused may arrive after the final one. A clip that is being fetched has
      // ended, too, and is not final.
      const isFinal = current.clip !== null && current.clip.endedAtMs !== null && !isPending(current.clip.phase);
      const isLate = urgency === 'progress' && isFinal;
      const fields = urgency === 'progress' ? withFilesOf(current, viewFields(view)) : viewFields(view);
      return isLate ? current : { ...current, ...fields, edits: current.edits + 1 };
    });
  }

  async attach(message: MessageRef, origin: Origin, view: View, file: Upload): Promise<Attached> {
    const limit = origin.uploadLimitBytes ?? this.limits.uploadBytes;
    if (file.bytes > limit) {
      throw new DailiesError(`attaching ${file.bytes} bytes: at most ${limit}`, {
        code: 'too_large',
        retryable: false,
      });
    }
    // Where clips are in a bucket, the page plays them from there, and a copy here would be a second one. A cut has no task.
    if (view.kind === 'cut' || this.#options.clipLinks.origin === null) await this.#files.keep(message.message, file);
    await this.#messages.change(message.message, (current) => ({
      ...current,
      ...viewFields(view),
      attachments: [...current.attachments.filter(({ name }) => name !== file.name), attachmentOf(file)],
      edits: current.edits + 1,
    }));
    return { isAnnounced: false };
  }

  async notify({ key, place, replyTo, mention, view, files = [], onlyFor }: Notice): Promise<MessageRef> {
    const id = messageIdOf('notice', key);
    for (const file of files) await this.#files.keep(id, file);
    const message = await this.#messages.post({
      id,
      channel: place.channel,
      replyTo,
      visibleTo: onlyFor?.id ?? null,
      card: cardOf(view, mention),
      attachments: files.map(attachmentOf),
      ...(view.kind === 'review' ? { about: view.task, ...(await this.#threadOf(place.channel, replyTo, view)) } : {}),
    });
    return { channel: message.channel, message: message.id };
  }

  /** Returns the thread of a message that replies to a storyboard's card, or to a message in its thread. */
  async #threadOf(channel: string, replyTo: MessageRef | null, view: View): Promise<Pick<Message, 'thread'>> {
    const kind = kindInThread(view);
    const above = replyTo === null || kind === null ? undefined : await this.#messages.get(replyTo.message);
    if (above?.channel !== channel || kind === null) return {};
    const card = above.thread?.card ?? (above.board ? above.id : undefined);
    return card === undefined ? {} : { thread: { card, kind } };
  }

  retract(message: MessageRef, _origin: Origin, view: RemovedView): Promise<void> {
    return retractMessage(this.#messages, message, view);
  }

  expire({ message }: MessageRef, view: CardView | RemovedView): Promise<void> {
    const fields = view.kind === 'removed' ? { card: cardOf(view), clip: null, asked: null } : viewFields(view);
    return replaceContent(this.#messages, message, fields, view.kind === 'set' ? view.members.map(fileIn) : []);
  }

  async forget(_team: string, person: Person, pseudonym: Person): Promise<void> {
    await forgetPerson(this.#messages, person, pseudonym);
    await this.#responses.forget(person.id);
  }

  async find(what: 'task' | 'notice', key: string): Promise<MessageRef | undefined> {
    const found = await this.#messages.get(messageIdOf(what, key));
    return found === undefined ? undefined : { channel: found.channel, message: found.id };
  }

  /** Grants every right: users may enter any name, so a check would restrict no one. */
  async #rights({ channel }: Place): Promise<MemberRights> {
    const isUsed = FIRST_CHANNELS.includes(channel) || (await this.#messages.channels()).includes(channel);
    return { view: true, post: true, manage: true, ...(isUsed ? {} : { isUnused: true }) };
  }

  notReady(): string | null {
    switch (this.#phase) {
      case 'new':
        return 'The playground is starting.';
      case 'open':
        return null;
      case 'stopped':
        return 'The playground is shutting down.';
    }
  }

  async connection(): Promise<string> {
    const { publicUrl, http } = this.#options;
    return publicUrl?.href ?? `${http.listeningOrigin}/`;
  }

  async start(): Promise<void> {
    await this.#files.prepare();
    await deleteAbandonedParts(this.#files.path, this.#options.clock.now());
    this.#phase = 'open';
  }

  async stop(): Promise<void> {
    this.#phase = 'stopped';
    await this.#responses.settled();
  }
}

function attachmentOf({ name, description, contentType, bytes }: Upload): Message['attachments'][number] {
  return { name, description, contentType, bytes };
}

/** Returns what a message is in the thread of a storyboard; `null` for one that stays in the channel, such as a mention. */
function kindInThread(view: View): NonNullable<Message['thread']>['kind'] | null {
  if (view.kind === 'task') return view.task.retryOf === undefined ? 'shot' : 'take';
  if (view.kind === 'cut') return 'cut';
  return view.kind === 'review' ? 'note' : null;
}

type ViewFields = Pick<Message, 'card' | 'task' | 'tasks' | 'state' | 'progress' | 'clip' | 'board'>;

function viewFields(view: View): ViewFields {
  const card = cardOf(view);
  if (view.kind === 'set') return { card, ...NO_TASK, tasks: tasksOf(view), board: boardOf(view) };
  if (view.kind !== 'task') return { card, ...NO_TASK };
  return { card, ...taskFields(view), clip: clipFacts(view) };
}

function taskFields({ task: { id, state }, progress }: TaskView): Pick<Message, 'task' | 'state' | 'progress'> {
  return { task: id, state, progress };
}

/** Keeps the files on the card of a set: a late progress edit names fewer. */
function withFilesOf({ tasks: before = [] }: Message, { tasks, ...fields }: ViewFields): ViewFields {
  const fileOf = (id: Message['task']) => before.find(({ task }) => task === id)?.file ?? null;
  return tasks === undefined
    ? fields
    : { ...fields, tasks: tasks.map((one) => ({ ...one, file: one.file ?? fileOf(one.task) })) };
}

/** Returns the tasks of a set; the clips of shots have messages of their own. */
function tasksOf({ set: { kind }, members }: SetView): NonNullable<Message['tasks']> {
  if (kind === 'storyboard') return members.map(({ view }) => taskFields(view));
  return members.map((member, index) => {
    const { view } = member;
    const name = capitalised(memberName(kind, view.task.set?.at ?? index + 1));
    return { ...taskFields(view), name, file: fileIn(member), clip: clipFacts(view) };
  });
}

/** Returns the board of a storyboard; `null` where nothing of it was ordered, and for other sets. */
function boardOf({ set, first, members, boardRevision: revision, boardCut }: SetView): BoardFacts | null {
  if (revision === undefined) return null;
  const by = first.task.origin.user.name;
  return { set: set.id, revision, by, shots: members.flatMap(shotOf), cut: boardCut ? cutOf(boardCut) : null };
}

function cutOf({ message: { message }, isJoining, isCurrent }: NonNullable<SetView['boardCut']>): BoardFacts['cut'] {
  return { message, state: isJoining ? 'joining' : isCurrent ? 'current' : 'outdated' };
}

function shotOf({ view, shot }: SetView['members'][number]): BoardFacts['shots'] {
  if (shot === undefined) return [];
  const { task, phase, progress } = view;
  const { at, isSkipped, isReady } = shot;
  const isRemoved = task.removal !== undefined;
  const prompt = isContentRemoved(task) ? '' : typedPrompt(task.request);
  const state = isRemoved ? 'Removed' : isReady ? null : capitalised(phaseWord(phase, task));
  return [{ at, task: task.id, prompt, seconds: task.request.seconds, state, progress, isSkipped }];
}

function clipFacts(view: TaskView): ClipFacts {
  const { phase, task, startedAtMs, nowMs } = view;
  const { request, origin, endedAtMs = null, retryOf, set } = task;
  return {
    phase,
    prompt: typedPrompt(request),
    aspectRatio: request.aspectRatio ?? null,
    by: origin.user.name,
    isRetry: retryOf !== undefined,
    isShot: set?.kind === 'storyboard',
    isCompared: set?.kind === 'comparison',
    isBlind: view.blind !== undefined,
    startedAtMs,
    endedAtMs,
    wordedAtMs: nowMs,
  };
}
