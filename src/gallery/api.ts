import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import {
  formatPrice,
  formatTimecode,
  isEnded,
  lastDecision,
  phaseAtEnd,
  priceOf,
  type Task,
  typedPrompt,
  versionOf,
} from '../tasks/index.ts';
import { type Catalog, checkRetry, MEDIA_KINDS, titleOf } from '../videos/index.ts';
import { type ClipFilter, type ClipTask, type Cursor, isClip } from './clips.ts';
import { type Entered, type EnteredRoute, GALLERY_PATH, idOf, sessionKeyOf, tokenOf } from './requests.ts';
import type { GalleryOptions } from './routes.ts';

const PAGE = 24;
const SHORT_PROMPT = 240;
/** Clips of which people, channels and models are collected for the filters. */
const LATEST = 500;

const CURSOR = /^(\d{1,16})\.([\w-]{1,100})$/;
const millis = z.coerce.number().int().min(0).max(8.64e15).optional();
const words = (maxLength: number) => z.string().trim().min(1).max(maxLength).optional();

const pageQuery = z.object({
  cursor: z.string().regex(CURSOR).optional(),
  person: words(200),
  channel: words(200),
  model: words(200),
  text: words(200),
  set: words(100),
  from: millis,
  to: millis,
});

/** Adds the JSON API: the session, pages of clips, one clip, and the values of the filters. */
export function addApi(http: FastifyInstance, route: EnteredRoute, options: GalleryOptions): void {
  const { clips, sets, catalog, posters } = options;
  const api = `${GALLERY_PATH}/api`;
  http.get(
    `${api}/session`,
    route(({ session, viewer }, request) => ({
      user: session.user,
      platform: session.platform,
      channel: viewer.channel === '' ? null : viewer.channel,
      token: tokenOf(sessionKeyOf(request)),
      hasPosters: posters.isOn,
    })),
  );
  http.get(
    `${api}/clips`,
    route(async (entered, request) => {
      const { cursor, set, ...query } = pageQuery.parse(request.query);
      const [filter, asked] = [filterOf(query), { cursor: cursorOf(cursor), limit: PAGE }];
      const { scope } = entered;
      const page = await (set === undefined ? clips.page(scope, filter, asked) : sets.page(scope, set, filter, asked));
      return {
        clips: page.clips.map((task) => summaryOf(task, catalog())),
        next: page.next === null ? null : `${page.next.score}.${page.next.member}`,
        searchedToMs: page.searchedToMs,
      };
    }),
  );
  http.get(
    `${api}/clips/:id`,
    route(async (entered, request, reply) => {
      const task = await clips.findClip(entered.scope, idOf(request));
      if (task === undefined)
        return reply.code(404).send({ error: 'There is no such clip, or it is not here any more.' });
      return detailOf(entered, task, options);
    }),
  );
  http.get(
    `${api}/facets`,
    route(async ({ scope }) => {
      const { clips: latest } = await clips.page(scope, {}, { cursor: null, limit: LATEST });
      const people = new Map(latest.map(({ origin }) => [origin.user.id, origin.user.name]));
      return {
        people: [...people].map(([id, name]) => ({ id, name })),
        channels: [...new Set(latest.map(({ origin }) => origin.channel))],
        models: [...new Set(latest.map(({ request }) => request.model))].map((name) => ({
          name,
          title: titleOf(catalog(), name),
        })),
      };
    }),
  );
}

function filterOf({ person, from, to, ...same }: Omit<z.output<typeof pageQuery>, 'cursor' | 'set'>): ClipFilter {
  return { ...same, user: person, fromMs: from, toMs: to };
}

function cursorOf(text: string | undefined): Cursor | null {
  const [, score, member] = CURSOR.exec(text ?? '') ?? [];
  return score === undefined || member === undefined ? null : { score: Number(score), member };
}

function summaryOf(task: ClipTask, catalog: Catalog) {
  const { id, request, origin, price, createdAtMs, retryOf } = task;
  // A retry of a shot is a further take of it.
  const set = task.takeOf ?? task.set;
  const { seconds, aspectRatio, resolution, style } = request;
  const prompt = typedPrompt(request);
  return {
    id,
    prompt: prompt.length > SHORT_PROMPT ? `${prompt.slice(0, SHORT_PROMPT - 1).toWellFormed()}…` : prompt,
    model: titleOf(catalog, request.model),
    seconds,
    aspect: aspectRatio ?? null,
    resolution: resolution ?? null,
    style: style ?? null,
    price: formatPrice(price),
    by: origin.user.name,
    createdAtMs,
    isRetry: retryOf !== undefined,
    version: versionOf(task),
    review: reviewOf(task),
    set: set === undefined ? null : { id: set.id, kind: set.kind, at: set.at, of: set.of },
  };
}

/** Returns the decision that counts on a clip; `null` where there is none. */
function reviewOf(task: ClipTask) {
  const last = lastDecision(task);
  return last === undefined ? null : { state: last.kind, by: last.by.name };
}

/** Returns what reviewers wanted changed, in the order of its times in the clip; what is about the whole clip comes first. */
function notesOf({ review = [] }: ClipTask) {
  const notes = review.flatMap(({ by, note }) => (note === undefined ? [] : [{ by: by.name, ...note }]));
  return notes
    .toSorted((one, other) => (one.atSeconds ?? -1) - (other.atSeconds ?? -1))
    .map(({ by, text, atSeconds }) => ({
      by,
      text,
      at: atSeconds === undefined ? null : formatTimecode(atSeconds),
      atSeconds: atSeconds ?? null,
    }));
}

async function detailOf({ scope, session }: Entered, task: ClipTask, { access, clips, catalog }: GalleryOptions) {
  const { request, origin } = task;
  const { before, after } = await clips.takesOf(scope, task);
  const checked = checkRetry(catalog(), request);
  const price = checked.ok ? priceOf(checked.model, checked.request.seconds) : null;
  const references = MEDIA_KINDS.map((kind) => ({ kind, count: request.media[kind].length }));
  return {
    ...summaryOf(task, catalog()),
    prompt: typedPrompt(request),
    sentPrompt: request.typed === undefined ? null : request.prompt,
    modelName: request.model,
    byId: origin.user.id,
    channel: origin.channel,
    references: references.filter(({ count }) => count > 0),
    startsFrom: startOf(task),
    notes: notesOf(task),
    before: before.map(takeOf),
    after: after.map(takeOf),
    mayDelete: await access.mayDelete(session, origin),
    retry: price === null ? null : { label: formatPrice(price), price },
  };
}

/** Returns the number of the shot whose last frame a clip starts with; `null` for none. */
function startOf({ request, set, takeOf: take }: Task): number | null {
  const place = take ?? set;
  return request.chain === undefined || place === undefined ? null : place.at - 1;
}

function takeOf(task: Task) {
  const phase = phaseAtEnd(task);
  const { id, createdAtMs, origin } = task;
  const version = versionOf(task);
  return { id, createdAtMs, by: origin.user.name, phase, version, hasClip: isClip(task), isOpen: !isEnded(task) };
}
