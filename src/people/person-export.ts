import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { chunked } from '../chunked.ts';
import type { ExportLine, Store } from '../engine/index.ts';
import type { SignedLinks } from '../media/index.ts';
import { isoOf } from '../period.ts';
import { isBlind, ledgerOf, readTasks, type Task, type TaskId } from '../tasks/index.ts';
import type { AuditTrail, LoggedValue, MemberKey } from '../teams/index.ts';
import { KEPT_ORIGIN } from '../videos/index.ts';
import { linesAbout } from './personal-records.ts';
import { tasksOfPerson } from './tasks-of-person.ts';

/** Dependencies of {@link createPersonExport}. */
export interface PersonExportOptions {
  readonly store: Pick<Store, 'scan' | 'keyv' | 'contents'>;
  /** `null`: links are off. */
  readonly links: Pick<SignedLinks, 'sign'> | null;
  readonly audit: Pick<AuditTrail, 'page'>;
}

/** Number of task records in memory at once. */
const TASKS_PER_READ = 200;
/** Number of entries of the audit log in memory at once. */
const ENTRIES_PER_READ = 200;

/** Creates the writer of what is stored about a person to a file: JSON lines, page by page. */
export function createPersonExport(options: PersonExportOptions) {
  return (person: MemberKey, path: string): Promise<void> =>
    pipeline(Readable.from(textOf(linesOf(options, person)), { objectMode: false }), createWriteStream(path));
}

async function* textOf(lines: AsyncIterable<ExportLine>): AsyncGenerator<string> {
  for await (const line of lines) yield `${JSON.stringify(line, withoutKept)}\n`;
}

/** Names a file that only this bot can resolve in place of its address, which leads nowhere. */
function withoutKept(_key: string, value: unknown): unknown {
  if (typeof value !== 'string' || !value.startsWith(`${KEPT_ORIGIN}/`) || !URL.canParse(value)) return value;
  return `kept by this bot as ${new URL(value).pathname.split('/').at(-1)}`;
}

async function* linesOf(options: PersonExportOptions, person: MemberKey): AsyncGenerator<ExportLine> {
  for (const ids of chunked(await tasksOfPerson(options.store, person), TASKS_PER_READ)) {
    const tasks = await readTasks(options.store, ids);
    for (const task of tasks) yield isBlind(task) ? blindLine(task) : clipLine(task, options.links);
  }
  const { platform, team, user } = person;
  yield* linesAbout(options.store, { platform, team, person: { id: user, name: user } });
  yield* auditLines(options, person);
}

/** Returns the line of a task: what its requester ordered, what it cost, and a link to the clip where links are on. */
function clipLine(task: Task, links: PersonExportOptions['links']): ExportLine {
  const {
    id,
    state,
    request,
    origin,
    retryOf,
    takeOf,
    set = takeOf,
    createdAtMs,
    accepted,
    endedAtMs,
    clip,
    removal,
    declined,
  } = task;
  const link = clip === undefined ? undefined : links?.sign(id);
  return {
    record: 'clip',
    id: id satisfies TaskId,
    state,
    platform: origin.platform,
    team: origin.team,
    channel: origin.channel,
    requester: origin.user,
    audience: origin.audience,
    request,
    sends: ledgerOf(task).map(({ send, period, amount, listed, currency, state: cost, booked }) => ({
      send,
      month: period,
      amount,
      listed,
      currency,
      state: booked ?? cost,
    })),
    createdAt: isoOf(createdAtMs),
    acceptedAt: isoOf(accepted?.atMs),
    endedAt: isoOf(endedAtMs),
    retryOf,
    set: set === undefined ? undefined : { id: set.id, kind: set.kind, number: set.at, of: set.of },
    declined: declined?.how,
    declinedReason: declined?.reason,
    failure: task.failure,
    clip: clip === undefined ? undefined : { bytes: clip.bytes, contentType: clip.contentType },
    link: link?.url,
    linkExpiresAt: isoOf(link?.expiresAtMs),
    version: task.version?.number,
    // Without the names of others.
    reviews: task.review?.map(({ kind: decision, note, atMs }) => ({ decision, ...note, at: isoOf(atMs) })),
    removed: removal === undefined ? undefined : { reason: removal.reason, at: isoOf(removal.atMs) },
  };
}

/** Returns the line of a clip whose comparison is not revealed: without what would tell its requester the model. */
function blindLine({ id, request, origin, createdAtMs }: Task): ExportLine {
  const { prompt, typed, style, seconds, media } = request;
  const { platform, team, channel, user: requester, audience } = origin;
  const where = { platform, team, channel, requester, audience };
  return {
    record: 'clip',
    id,
    ...where,
    request: { prompt, typed, style, seconds, media },
    createdAt: isoOf(createdAtMs),
    hiddenUntilReveal: true,
  };
}

/** Yields the changes in the audit log that the person made, without the names of others. */
async function* auditLines(
  { audit }: Pick<PersonExportOptions, 'audit'>,
  { platform, team, user }: MemberKey,
): AsyncGenerator<ExportLine> {
  const isShown = (value: LoggedValue): boolean => value.kind !== 'person' || value.person.id === user;
  for (let offset = 0; ; offset += ENTRIES_PER_READ) {
    const { entries } = await audit.page({ platform, team }, { offset, limit: ENTRIES_PER_READ });
    if (entries.length === 0) return;
    for (const { by, atMs, action, subject, before, after } of entries) {
      if (by === null || by === 'erased' || by.id !== user) continue;
      const [about, from, to] = [subject, before, after].map((values) => values.filter(isShown));
      yield { record: 'audit', action, about, from, to, at: isoOf(atMs) };
    }
  }
}
