import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Bot } from '#commands/bot-port.ts';
import { cardOf } from '#commands/sentences.ts';
import type { MemberRights, MessageRef, Platform, PlatformLimits, Upload } from '#src/chat/platform.ts';
import type { TaskView, View } from '#src/chat/view.ts';
import type { Clock } from '#src/clock.ts';
import { DailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import type { Store } from '#src/store/store.ts';
import type { Audience, Origin, TaskId } from '#src/tasks/task.ts';
import type { Catalog } from '#src/videos/model.ts';
import { Guard, type GuardOptions } from './access.ts';
import { LiveStreams } from './event-stream.ts';
import { AttachmentFolder } from './files.ts';
import { InteractionHandler, messageIdOf } from './interactions.ts';
import { type ClipFacts, type Message, MessageStore } from './message-store.ts';
import { servePage } from './page.ts';
import { keptCard } from './render.ts';
import { ResponseCache } from './response-cache.ts';
import { addRoutes, type ClipOf } from './routes.ts';

/** What the playground is made of. */
export interface PlaygroundOptions extends GuardOptions {
  /** The bot's HTTP server; the routes are added to it, and it is neither started nor stopped here. */
  readonly http: FastifyInstance;
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Folder of the process's files; attachments go to `playground/` in it. */
  readonly dataDir: string;
  /** The bot behind the page; asked for at each call, since bot and platform need each other. */
  readonly bot: () => Bot;
  /** The models that can be ordered from, as of now. */
  readonly catalog: () => Catalog;
  /** Finds clips that other replicas put on messages. */
  readonly clipOf: ClipOf;
  /** Whether clips come from the embedded service, which costs nothing; the page says so. */
  readonly isEmbeddedService: boolean;
  /** Most bytes of an attachment. Default 2 GiB: the disk is our own. */
  readonly uploadBytes?: number;
  /** Most interactions that are being answered at once. Default 5,000. */
  readonly mostInHand?: number;
  /** Most pages that are open at once. Default 1,000. */
  readonly mostPages?: number;
}

const DEFAULT_UPLOAD_BYTES = 2 * 1024 ** 3;

/** The chat page as a platform: a page in the browser, its HTTP calls, and messages kept in the store. */
export function createPlayground(options: PlaygroundOptions): Platform {
  return new Playground(options);
}

class Playground implements Platform {
  readonly name = 'playground';
  readonly limits: PlatformLimits;
  readonly #options: PlaygroundOptions;
  readonly #board: MessageStore;
  readonly #files: AttachmentFolder;
  readonly #answers: ResponseCache;
  #phase: 'new' | 'open' | 'stopped' = 'new';

  constructor(options: PlaygroundOptions) {
    this.#options = options;
    const { http, store, clock, logger, bot, catalog, clipOf, isEmbeddedService } = options;
    this.limits = {
      uploadBytes: options.uploadBytes ?? DEFAULT_UPLOAD_BYTES,
      editIntervalMs: 250,
      textLength: 4000,
      showsState: true,
      hasDirectMessages: false,
      mentionsWithFile: false,
    };
    this.#board = new MessageStore(store, clock);
    this.#files = new AttachmentFolder(join(options.dataDir, 'playground'));
    this.#answers = new ResponseCache(store, clock, options.mostInHand);
    const board = this.#board;
    const files = this.#files;
    const desk = new InteractionHandler({ bot, board, answers: this.#answers, logger });
    const streams = new LiveStreams(board, clock, options.mostPages);
    const closed = (): string | null => this.notReady();
    // Without a prefix or a name this is one closed room: its hooks and parsers hold for the playground alone.
    http.register(async (room) => {
      const guard = new Guard(options);
      room.addHook('onRequest', guard.check);
      room.addHook('preClose', () => streams.end());
      await servePage(room);
      guard.addEntrance(room);
      addRoutes(room, { bot, catalog, desk, board, files, clipOf, streams, logger, isEmbeddedService, closed });
    });
  }

  async open(task: TaskId, origin: Origin, view: View): Promise<MessageRef> {
    const { channel, replyTo } = origin;
    const message = await this.#board.post({
      id: messageIdOf('task', task),
      channel,
      replyTo: replyTo === undefined ? null : { channel, message: replyTo },
      ...shown(view),
    });
    return { channel: message.channel, message: message.id };
  }

  async edit(message: MessageRef, _origin: Origin, view: View, urgency: 'progress' | 'final'): Promise<void> {
    await this.#board.change(message.message, (there) => {
      // A replica that was stopped meanwhile may come too late with its news.
      const isLate = urgency === 'progress' && there.clip !== null && there.clip.endedAtMs !== null;
      return isLate ? there : { ...there, ...shown(view), edits: there.edits + 1 };
    });
  }

  async attach(message: MessageRef, origin: Origin, view: View, file: Upload): Promise<boolean> {
    const limit = origin.uploadLimitBytes ?? this.limits.uploadBytes;
    if (file.bytes > limit) {
      throw new DailiesError(`attaching ${file.bytes} bytes: at most ${limit}`, {
        code: 'too_large',
        retryable: false,
      });
    }
    await this.#files.keep(message.message, file);
    const { name, description, contentType, bytes } = file;
    await this.#board.change(message.message, (there) => ({
      ...there,
      ...shown(view),
      attachments: [
        ...there.attachments.filter((other) => other.name !== name),
        { name, description, contentType, bytes },
      ],
      edits: there.edits + 1,
    }));
    return false;
  }

  async notify({ key, place, replyTo, mention, view }: Parameters<Platform['notify']>[0]): Promise<MessageRef> {
    const message = await this.#board.post({
      id: messageIdOf('notice', key),
      channel: place.channel,
      replyTo,
      card: keptCard(cardOf(view, mention)),
    });
    return { channel: message.channel, message: message.id };
  }

  missingRight(): Promise<null> {
    return Promise.resolve(null);
  }

  /** Names are free here and every channel is open to everyone. */
  audience(): Promise<Audience> {
    return Promise.resolve('team');
  }

  /** Whoever opens the page may enter any name: a right would keep nobody out. */
  rights(): Promise<MemberRights> {
    return Promise.resolve({ view: true, post: true, manage: true });
  }

  directChannel(): Promise<never> {
    return Promise.reject(new TypeError('opening a direct message: the playground has none'));
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
    this.#phase = 'open';
  }

  async stop(): Promise<void> {
    this.#phase = 'stopped';
    await this.#answers.settled();
  }
}

/** What a message says of a view. */
function shown(view: View): Pick<Message, 'card' | 'task' | 'state' | 'progress' | 'clip'> {
  const card = keptCard(cardOf(view));
  if (view.kind === 'end') return { card, task: null, state: null, progress: null, clip: null };
  return { card, task: view.task, state: view.state, progress: view.progress, clip: clipFacts(view) };
}

function clipFacts(view: TaskView): ClipFacts {
  const { phase, prompt, aspectRatio, by, createdAtMs, endedAtMs, nowMs, retryOf } = view;
  const times = { startedAtMs: createdAtMs, endedAtMs, wordedAtMs: nowMs };
  return { phase, prompt, aspectRatio, by: by.name, isRetry: retryOf !== null, ...times };
}
