import { createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type ComparisonRecord, createSubscriptions } from '../chat/index.ts';
import type { Store } from '../engine/index.ts';
import type { SignedLinks } from '../media/index.ts';
import type { BudgetRepository } from '../money/index.ts';
import type { Cut } from '../orders/index.ts';
import type { Draft } from '../pipeline/index.ts';
import {
  amountOf,
  isBlind,
  isTask,
  labelAt,
  ledgerOf,
  readTasks,
  type Task,
  type TaskId,
  WRITTEN,
} from '../tasks/index.ts';
import {
  type Approvers,
  type AuditTrail,
  keyOf,
  type LoggedValue,
  NO_POLICY,
  PersonalDefaults,
  type ReferenceImage,
  rulesNaming,
  type TeamKey,
  type TeamSettingsRepository,
} from '../teams/index.ts';
import { tasksOfPerson } from './tasks-of-person.ts';

interface PersonOfTeam extends TeamKey {
  /** The platform's user id. */
  readonly user: string;
}

/** Dependencies of {@link createPersonExport}. */
export interface PersonExportOptions {
  readonly store: Pick<Store, 'scan' | 'keyv' | 'contents' | 'commit'>;
  /** `null`: links are off. */
  readonly links: Pick<SignedLinks, 'sign'> | null;
  readonly settings: Pick<TeamSettingsRepository, 'get'>;
  readonly budgets: Pick<BudgetRepository, 'get'>;
  readonly approvers: Pick<Approvers, 'list'>;
  readonly audit: Pick<AuditTrail, 'page'>;
}

/** Writes what is stored about a person to a file. @returns its size in bytes. @throws `store_unavailable` */
type WritePersonExport = (person: PersonOfTeam, path: string, isCompressed: boolean) => Promise<number>;

type ExportLine = Readonly<Record<string, unknown>> & {
  readonly record:
    | 'clip'
    | 'cut'
    | 'draft'
    | 'subscription'
    | 'approver'
    | 'budget'
    | 'defaults'
    | 'library'
    | 'vote'
    | 'policy'
    | 'pause'
    | 'review'
    | 'decision'
    | 'audit';
};

/** Number of task records in memory at once. */
const TASKS_PER_READ = 200;
/** Number of entries of the audit log in memory at once. */
const ENTRIES_PER_READ = 200;

/** Creates the writer of exports: JSON lines, gzipped on demand, written page by page. */
export function createPersonExport(options: PersonExportOptions): WritePersonExport {
  return async (person, path, isCompressed) => {
    const lines = Readable.from(textOf(linesOf(options, person)), { objectMode: false });
    const file = createWriteStream(path);
    await (isCompressed ? pipeline(lines, createGzip(), file) : pipeline(lines, file));
    return (await stat(path)).size;
  };
}

async function* textOf(lines: AsyncIterable<ExportLine>): AsyncGenerator<string> {
  for await (const line of lines) yield `${JSON.stringify(line)}\n`;
}

async function* linesOf(options: PersonExportOptions, person: PersonOfTeam): AsyncGenerator<ExportLine> {
  const ids = [...(await tasksOfPerson(options.store, person))];
  for (let from = 0; from < ids.length; from += TASKS_PER_READ) {
    const tasks = await readTasks(options.store.keyv('tasks'), ids.slice(from, from + TASKS_PER_READ));
    for (const task of tasks) yield isBlind(task) ? blindLine(task) : clipLine(task, options.links);
  }
  yield* cutLines(options, person);
  yield* draftLines(options, person);
  yield* libraryLines(options, person);
  yield* decisionLines(options, person);
  yield* auditLines(options, person);
  yield* roleLines(options, person);
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
    acceptedAtMs,
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
    sends: ledgerOf(task).map(({ send, period, amount, currency, state: cost, booked }) => ({
      send,
      month: period,
      amount,
      currency,
      state: booked ?? cost,
    })),
    createdAt: isoOf(createdAtMs),
    acceptedAt: isoOf(acceptedAtMs),
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

/** Yields the reference images that the person added to the team's library. */
async function* libraryLines(
  { store }: Pick<PersonExportOptions, 'store'>,
  { platform, team, user }: PersonOfTeam,
): AsyncGenerator<ExportLine> {
  const shelf = await store.keyv('references').get<{ images: readonly ReferenceImage[] }>(keyOf({ platform, team }));
  for (const { name, url, by, addedAtMs } of shelf?.images ?? [])
    if (by.id === user) yield { record: 'library', name, url, at: isoOf(addedAtMs) };
}

/** Yields what the person decided about clips, as a reviewer or approver or by a button, with their notes and reasons. */
async function* decisionLines(
  { store }: Pick<PersonExportOptions, 'store'>,
  { platform, team, user }: PersonOfTeam,
): AsyncGenerator<ExportLine> {
  for await (const page of store.contents.records('tasks')) {
    for (const { key, value } of page) {
      if (!isTask(value, key) || value.origin.platform !== platform || value.origin.team !== team) continue;
      const all = Object.values(WRITTEN).flatMap(({ decisions }) => decisions(value));
      for (const { by, atMs, ...line } of all) if (by.id === user) yield { ...line, clip: key, at: isoOf(atMs) };
    }
  }
}

/** Yields the changes in the audit log that the person made, without the names of others. */
async function* auditLines(
  { audit }: Pick<PersonExportOptions, 'audit'>,
  { platform, team, user }: PersonOfTeam,
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

/** Yields the cuts that the person asked for: of which clips, where. */
async function* cutLines(
  { store }: Pick<PersonExportOptions, 'store'>,
  { platform, team, user }: PersonOfTeam,
): AsyncGenerator<ExportLine> {
  for await (const page of store.contents.records('cuts')) {
    for (const { value } of page) {
      const { id, tasks, origin, requestedAtMs, state, file } = value as Cut;
      if (origin.user.id !== user || origin.platform !== platform || origin.team !== team) continue;
      yield {
        record: 'cut',
        id,
        clips: tasks,
        channel: origin.channel,
        state,
        file,
        requestedAt: isoOf(requestedAtMs),
      };
    }
  }
}

async function* draftLines(
  { store }: Pick<PersonExportOptions, 'store'>,
  { platform, team, user }: PersonOfTeam,
): AsyncGenerator<ExportLine> {
  for await (const page of store.contents.records('drafts')) {
    for (const { value } of page) {
      const draft = value as Partial<Draft>;
      if (draft.by?.id !== user || draft.platform !== platform || draft.team !== team) continue;
      const { id, channel, request, createdAtMs } = draft;
      yield { record: 'draft', id, channel, request, createdAt: isoOf(createdAtMs) };
    }
  }
}

/** Yields what names the person besides their clips: notifications, approvals, budget, policy, a pause of the team. */
async function* roleLines(
  { store, settings, budgets, approvers }: PersonExportOptions,
  { platform, team, user }: PersonOfTeam,
): AsyncGenerator<ExportLine> {
  const of = { platform, team };
  for (const { channel, from, who, by } of await createSubscriptions(store).list(platform, team)) {
    if (by.id !== user && (who === 'everyone' || who.id !== user)) continue;
    yield { record: 'subscription', channel, from, who, isYours: by.id === user };
  }
  for (const { kind, id, name, untilMs } of await approvers.list(of)) {
    if (kind === 'person' && id === user) yield { record: 'approver', name, until: isoOf(untilMs) };
  }
  const budget = await budgets.get({ kind: 'person', ...of, person: { id: user, name: user } });
  if (budget !== null) {
    const { hard, soft } = budget;
    yield { record: 'budget', hard: amountsOf(hard), soft: amountsOf(soft) };
  }
  const defaults = await new PersonalDefaults(store).get({ platform, team, user });
  if (Object.keys(defaults).length > 0) yield { record: 'defaults', ...defaults };
  for await (const page of store.contents.records('comparisons')) {
    for (const { key, value } of page) {
      const record = value as Partial<ComparisonRecord>;
      const at = record.platform === platform && record.team === team ? record.votes?.[user] : undefined;
      if (at !== undefined) yield { record: 'vote', comparison: key, label: labelAt(at) };
    }
  }
  const { pause, policy = NO_POLICY } = await settings.get(of);
  for (const { rule, channel } of rulesNaming(policy, user)) yield { record: 'policy', rule, channel };
  if (pause?.by.id === user) yield { record: 'pause', reason: pause.reason, at: isoOf(pause.atMs) };
}

function amountsOf(amounts: Readonly<Record<string, bigint>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(amounts).map(([currency, micros]) => [currency, amountOf(micros)]));
}

function isoOf(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString();
}
