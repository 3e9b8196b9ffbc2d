import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { Remover } from '#src/clips/remover.ts';
import { retentionJob } from '#src/clips/retention.ts';
import { createLeases } from '#src/engine/cluster/leases.ts';
import type { RecordWrite, Store } from '#src/engine/store/store.ts';
import { Clips } from '#src/pipeline/clip-files.ts';
import { FolderStorage } from '#src/storage/folder-storage.ts';
import { toChange } from '#src/tasks/indexes.ts';
import { recount } from '#src/tasks/recount.ts';
import type { Task, TaskId } from '#src/tasks/task.ts';
import { AuditTrail } from '#src/teams/audit/audit.ts';
import { DEFAULT_SETTINGS } from '#src/teams/settings-schema.ts';
import type { UpstreamId } from '#src/videos/service.ts';
import { ChatHouse } from './chat-house.ts';
import { runJob } from './jobs.ts';
import { LeaseTable } from './lease-table.ts';
import type { ManualClock } from './manual-clock.ts';
import { NO_CUTS } from './no-cuts.ts';
import { lived, newTask, originOf } from './tasks.ts';

const DAY_MS = 24 * 3_600_000;
/** Commits in flight while the library is filled. */
const AT_ONCE = 500;
const CLIP_BYTES = 10;

/** A library in a real store and a real folder, whose clips expire after 30 days and whose prompts do after 90. */
export interface ExpiringLibrary {
  /** Creates delivered clips with their files, records of messages, and ids as Discord's. */
  fill(count: number): Promise<void>;
  /** Sweeps once. @returns whether the sweep was complete. */
  sweep(): Promise<boolean>;
  /** Names of the files of clips. */
  files(): Promise<readonly string[]>;
  /** Returns how often the folder of the clips was listed for removals. */
  listings(): number;
  readonly house: ChatHouse;
}

/** Returns the id of the clip at a position. */
export function clipAt(at: number): TaskId {
  return `clip${`${at}`.padStart(12, '0')}` as TaskId;
}

/** Opens a library on a store, with its clips in `folder`. */
export async function openLibrary(store: Store, folder: string, clock: ManualClock): Promise<ExpiringLibrary> {
  const clipsDir = join(folder, 'clips');
  await mkdir(clipsDir, { recursive: true });
  const logger = pino({ level: 'silent' });
  const house = new ChatHouse({ store, clock });
  const { repository, chat } = house;
  const clips = new Clips({
    videos: { of: () => ({ download: () => Promise.reject(new TypeError('nothing is downloaded')) }) },
    leases: createLeases({ backend: new LeaseTable(clock), clock, owner: 'me' }),
    clock,
    logger,
    storage: new FolderStorage(clipsDir),
    isRemoved: async () => false,
    deferStorage: () => Promise.reject(new TypeError('a folder keeps what it has')),
  });
  let listings = 0;
  const list: typeof clips.list = (...args) => {
    listings += 1;
    return clips.list(...args);
  };
  const remove: typeof clips.remove = (...args) => clips.remove(...args);
  const audit = new AuditTrail(store, clock);
  const removable = { clips: { list, remove }, cuts: NO_CUTS };
  const remover = new Remover({ ...removable, store, repository, messages: chat.retraction, audit, clock, logger });
  return {
    house,
    async fill(count) {
      for (let from = 0; from < count; from += AT_ONCE) {
        const some = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, at) => delivered(from + at, clipsDir));
        await Promise.all(
          some.map(async (task) => {
            await writeFile(task.clip?.path ?? '', Buffer.alloc(CLIP_BYTES));
            const change = toChange(null, task);
            await store.commit({ ...change, records: [...change.records, ...messagesOf(task)] });
          }),
        );
      }
    },
    async sweep() {
      const retention = retentionJob({
        store,
        remover,
        settings: { get: async () => DEFAULT_SETTINGS },
        retention: { clipsDays: 30, promptsDays: 90 },
        metrics: { expired: () => undefined },
        clock,
        logger,
      });
      return runJob(retention, house);
    },
    files: () => readdir(clipsDir),
    listings: () => listings,
  };
}

/** Returns a delivered task as the program leaves it, one minute after the one before. */
function delivered(at: number, clipsDir: string): Task {
  const snowflake = (of: number): string => `${1_200_000_000_000_000_000n + BigInt(of)}`;
  const id = clipAt(at);
  const createdAtMs = originTimeMs(at);
  const task = newTask({
    id,
    createdAtMs,
    request: {
      model: 'swift-1',
      prompt: `take ${at}: ${'a red fox running through snow at dawn, cinematic '.repeat(5)}`,
      seconds: 6,
      media: { image: [], audio: [], video: [] },
    },
    origin: originOf({
      team: snowflake(1),
      channel: snowflake(2),
      user: { id: snowflake(3 + (at % 9)), name: 'Ada Lovelace' },
      interaction: snowflake(1_000 + at),
      audience: 'team',
      address: {
        access: 'bot',
        application: snowflake(9),
        token: 'aW50ZXJhY3Rpb246MTI'.repeat(12),
        guild: snowflake(1),
      },
    }),
  });
  const atMs = createdAtMs + 60_000;
  const clip = { path: join(clipsDir, `${id}.mp4`), bytes: CLIP_BYTES, contentType: 'video/mp4' };
  const upstreamId = `video_${`${at}`.padStart(48, '0')}` as UpstreamId;
  return recount(
    lived(
      recount(task),
      { kind: 'send', owner: 'me', atMs: 0 },
      { kind: 'accepted', upstreamId, atMs },
      { kind: 'completed', atMs },
      { kind: 'fetched', clip },
      { kind: 'presented', revision: 5 },
    ),
  );
}

/** Time at which the first clip was ordered. */
const FIRST_MS = Date.UTC(2026, 5, 1);

function originTimeMs(at: number): number {
  return FIRST_MS + at * 60_000;
}

/** Returns the records about a task's message and its delivery. */
function messagesOf({ id, origin }: Task): readonly RecordWrite[] {
  const message = { channel: origin.channel, message: `m-${id}` };
  const card = { revision: 1, message, progress: 100, isRunning: true, shown: 'x'.repeat(120) };
  const delivery = { handover: { kind: 'attached' }, shown: { revision: 5, isThere: true } };
  const write = (namespace: string, key: string, value: object): RecordWrite => ({
    namespace,
    key,
    value,
    expected: 'any',
  });
  return [
    write('cards', id, card),
    write('messages', `fake:${message.channel}:${message.message}`, { revision: 1, task: id }),
    write('deliveries', id, delivery),
  ];
}

/** Bytes of the SQLite database at `path` after everything was written to it. */
export async function bytesOfDatabase(path: string): Promise<number> {
  return (await stat(path)).size;
}

/** Time after the end of the period of every clip, or of every prompt, of a library. */
export function afterDays(days: number): number {
  return FIRST_MS + (days + 30) * DAY_MS;
}
