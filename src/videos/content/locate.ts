import type { IncomingHttpHeaders } from 'node:http';
import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createUnzip } from 'node:zlib';
import type { Dispatcher } from 'undici';
import type { DailiesError, ErrorCode } from '../../errors.ts';
import type { AddressRefusal } from '../addresses.ts';
import type { ClipDestination } from '../dialects/dialect.ts';
import { MAX_ANSWER_BYTES, noAnswer, type Wire } from '../exchange.ts';
import { type Answer, failure, jsonOf, reasonOf, retryAfterMs } from '../failures.ts';
import type { UpstreamId } from '../service.ts';
import { SIGNATURE_BYTES, videoTypeOf } from './container.ts';

const DOING = 'fetching a clip';
const MAX_REDIRECTS = 5;
/** Largest JSON response that may contain a clip, in bytes: base64 of 24 MB, the largest clips in practice. */
const MAX_JSON_BYTES = 32 * 1024 * 1024;

/** Requested bytes of a clip. */
interface Wanted {
  readonly id: UpstreamId;
  /** Offset of the first byte. */
  readonly from: number;
  /** ETag of the bytes before `from`; null where the service sent none. */
  readonly validator: string | null;
  readonly signal: AbortSignal | undefined;
}

export interface ClipStream {
  /** Bytes from {@link offset} on. */
  readonly chunks: AsyncIterable<Buffer>;
  /** Closes the connection, even if not all bytes were read. */
  readonly close: () => void;
  /** Offset of the first chunk: the requested one, or 0 where the service sends the whole clip. */
  readonly offset: number;
  /** Length of the whole clip; null where the service did not state it. */
  readonly totalBytes: number | null;
  /** Strong ETag, for `If-Range`. */
  readonly validator: string | null;
}

/** Error of a requested range that the service does not have: the bytes on disk belong to another file. */
export class NoSuchRangeError extends Error {}

interface Target {
  readonly url: URL;
  readonly withToken: boolean;
}

/**
 * Finds the bytes of a completed task's clip: follows redirects and JSON responses to other URLs, sending the token to
 * the service's own origin only.
 * @throws DailiesError as documented at `VideoService.download`; {@link NoSuchRangeError}.
 * @see docs/video-service.md "Dialects": clip
 */
export async function locate(wire: Wire, wanted: Wanted): Promise<ClipStream> {
  let target: Target = {
    url: new URL(wire.origin + wire.basePath + wire.dialect.paths.content(wanted.id)),
    withToken: true,
  };
  for (let redirects = 0; redirects <= MAX_REDIRECTS; ) {
    await wire.guard.check(target.url);
    const response = await get(wire, wanted, target);
    const found = await read(wire, wanted, { ...response, target });
    if (!('url' in found)) return found;
    if (found.url !== target.url) redirects += 1;
    target = found;
  }
  throw refused(wire, `more than ${MAX_REDIRECTS} redirects`, 'redirects');
}

function refused(wire: Wire, what: string, words: AddressRefusal): DailiesError {
  return failure(wire, `${DOING}: ${what}`, { code: 'refused_address', retryable: false, words });
}

interface Response {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Dispatcher.ResponseData['body'];
}

async function get(wire: Wire, wanted: Wanted, { url, withToken }: Target): Promise<Response> {
  const { from, validator, signal } = wanted;
  const headers = {
    accept: 'video/*, application/json;q=0.5, */*;q=0.1',
    // A compressed response would have neither the clip's length nor its ranges.
    'accept-encoding': 'identity',
    ...(withToken ? wire.credentials : {}),
    ...(from === 0 ? {} : { range: `bytes=${from}-` }),
    ...(from === 0 || validator === null ? {} : { 'if-range': validator }),
  };
  try {
    const { origin, pathname, search } = url;
    const request = { origin, path: pathname + search, method: 'GET', headers, signal: signal ?? null };
    const { statusCode, headers: answered, body } = await wire.agents.download.request(request);
    // The reader of the body gets its errors; without a listener, those of an abandoned body would crash the process.
    body.on('error', () => {});
    return { status: statusCode, headers: answered, body };
  } catch (error) {
    throw noAnswer(wire, DOING, error);
  }
}

/** Reads a response: returns the clip, or the next URL to request. */
async function read(wire: Wire, wanted: Wanted, response: Response & { target: Target }): Promise<ClipStream | Target> {
  const { status, headers, body, target } = response;
  const close = (): void => void body.destroy();
  let clip: ClipStream | undefined;
  try {
    if (isRedirect(status) && headers.location !== undefined) return targetOf(wire, headers.location, target.url);
    const start = await startOf(plainBody(response));
    clip = asClip(wanted, { ...response, ...start, close });
    if (clip !== undefined) return clip;
    const answer: Answer = { status, headers, text: await textOf(start) };
    if (status >= 200 && status < 300) return readIndirect(wire, answer, target.url);
    const mayNeedNoToken = target.withToken && (status === 401 || status === 403);
    if (mayNeedNoToken) return { url: target.url, withToken: false };
    throw refusal(wire, answer, target);
  } catch (error) {
    throw error instanceof NoSuchRangeError ? error : noAnswer(wire, DOING, error);
  } finally {
    if (clip === undefined) close();
  }
}

/** Returns the decompressed body: some services compress although `identity` was requested. */
function plainBody({ headers, body }: Response): Readable {
  const coding = codingOf(headers);
  if (coding === null) return body;
  // The reader of the last stream gets the errors of the first.
  return pipeline(body, coding === 'br' ? createBrotliDecompress() : createUnzip(), () => {});
}

function codingOf(headers: IncomingHttpHeaders): string | null {
  const coding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  return ['gzip', 'x-gzip', 'deflate', 'br'].includes(coding) ? coding : null;
}

/** Returns the clip of a response that contains one. @throws NoSuchRangeError */
function asClip(wanted: Wanted, { status, headers, head, rest, close }: Response & Start & Pick<ClipStream, 'close'>) {
  const isCoded = codingOf(headers) !== null;
  const length = isCoded || headers['content-length'] === undefined ? null : Number(headers['content-length']);
  const clip = { chunks: chain({ head, rest }), close, validator: strongTag(headers.etag) };
  if (status === 200 && (videoTypeOf(head, length ?? undefined) !== null || !looksLikeText(head))) {
    return { ...clip, offset: 0, totalBytes: length };
  }
  if (status === 416) throw new NoSuchRangeError();
  if (status !== 206) return undefined;
  const [, start, total] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers['content-range'] ?? '') ?? [];
  if (isCoded || Number(start) !== wanted.from) throw new NoSuchRangeError();
  const end = length === null ? null : wanted.from + length;
  return { ...clip, offset: wanted.from, totalBytes: total === '*' ? end : Number(total) };
}

/** Reads a 2xx response that is not a clip: JSON with the clip or its URL, a task that is not ready, or an error. */
function readIndirect(wire: Wire, answer: Answer, base: URL): Target | ClipStream {
  const json = jsonOf(answer);
  const reading = reasonOf(answer, wire);
  const task = wire.dialect.decodeTask(json);
  const destination = reading.success === false || task?.status === 'failed' ? undefined : clipOf(wire, json);
  if (destination !== undefined)
    return 'bytes' in destination ? streamOf(destination.bytes) : targetOf(wire, destination.address, base);
  const isEarly = answer.status !== 200 || task?.status === 'queued' || task?.status === 'in_progress';
  throw failure(wire, `${DOING}: the answer is no video`, {
    code: isEarly ? 'not_ready' : 'not_a_video',
    // A proxy's maintenance page is temporary, as is an error in JSON.
    retryable: true,
    retryAfterMs: retryAfterMs(answer.headers, wire.clock.now()),
    words: reading.words,
  });
}

/** Finds the clip of a JSON response, as the dialect does. */
function clipOf({ dialect }: Wire, json: unknown): ClipDestination | undefined {
  return dialect.clipIn === undefined ? destinationIn(json) : dialect.clipIn(json);
}

/** Returns the stream of a clip that a JSON response contained. */
function streamOf(bytes: Buffer): ClipStream {
  const chunks = (async function* () {
    yield bytes;
  })();
  return { chunks, close() {}, offset: 0, totalBytes: bytes.length, validator: null };
}

function targetOf(wire: Wire, location: string, base: URL): Target {
  if (location.trim() === '' || !URL.canParse(location, base.href)) {
    throw refused(wire, 'led to no address', 'no_address');
  }
  const url = new URL(location, base.href);
  return { url, withToken: url.origin === wire.origin };
}

function refusal(wire: Wire, answer: Answer, { url }: Target): DailiesError {
  const { status, headers } = answer;
  return failure(wire, `${DOING}: HTTP ${status}`, {
    ...verdictOf(status, url.origin === wire.origin),
    retryAfterMs: retryAfterMs(headers, wire.clock.now()),
    words: reasonOf(answer, wire).words,
  });
}

/** Returns the failure of a status; a signed URL of another origin that refuses has usually just expired. */
function verdictOf(status: number, isOwn: boolean): { readonly code: ErrorCode; readonly retryable: boolean } {
  if (status === 410) return { code: 'gone', retryable: false };
  if (status === 400 || status === 404 || status === 409 || status === 425)
    return { code: 'not_ready', retryable: true };
  if (isOwn && (status === 401 || status === 403)) return { code: 'unauthorised', retryable: false };
  return { code: 'unavailable', retryable: true };
}

/** First bytes of a body, and an iterator over the rest. */
interface Start {
  readonly head: Buffer;
  readonly rest: AsyncIterator<Buffer>;
}

/** Reads enough bytes to detect the content of the response. */
async function startOf(body: AsyncIterable<Buffer>): Promise<Start> {
  const rest = body[Symbol.asyncIterator]();
  let head: Buffer = Buffer.alloc(0);
  while (head.length < SIGNATURE_BYTES) {
    const next = await rest.next();
    if (next.done === true) break;
    head = Buffer.concat([head, next.value]);
  }
  return { head, rest };
}

async function* chain({ head, rest }: Start): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

/** Returns the text of a response that is not a clip, up to a size limit. */
async function textOf(start: Start): Promise<string> {
  const parts: Buffer[] = [];
  const mostBytes = /^[\uFEFF\s]*[[{"]/.test(start.head.toString('utf8')) ? MAX_JSON_BYTES : MAX_ANSWER_BYTES;
  let bytes = 0;
  for await (const chunk of chain(start)) {
    parts.push(chunk);
    bytes += chunk.length;
    if (bytes > mostBytes) break;
  }
  return Buffer.concat(parts).toString('utf8');
}

/** Detects JSON, HTML and empty bodies by their first bytes; an unknown video format is checked once complete. */
function looksLikeText(head: Buffer): boolean {
  return /^[\uFEFF\s]*([[{<"]|$)/.test(head.toString('utf8'));
}

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

function strongTag(etag: string | undefined): string | null {
  return etag?.startsWith('"') === true ? etag : null;
}

/** Names of fields for a clip's URL among services, in order of preference; letter case and underscores are ignored. */
const ADDRESS_NAMES = ['videourl', 'url', 'downloadurl', 'contenturl', 'resulturl', 'outputurl', 'fileurl', 'uri'];
/** Names of fields that may hold a URL, a list of URLs or an object with one. */
const RESULT_NAMES = ['urls', 'videourls', 'output', 'outputs', 'result', 'results', 'video', 'videos'];
/** Names of fields that are not the clip: its images, and the inputs of the task. */
const OTHER_NAMES = /^(image|cover|thumb|poster|preview|input|request|webhook|callback)/;

/** Maximum nesting depth that is searched. */
const DEPTH = 3;
/** Longest relative URL, in characters. */
const MAX_RELATIVE_LENGTH = 4_096;
/** Length of {@link SIGNATURE_BYTES} in base64, in whole groups of four characters. */
const SIGNATURE_CHARACTERS = Math.ceil(SIGNATURE_BYTES / 3) * 4;

/**
 * Finds a clip in a JSON response to `/content`: a URL, a `data:` URI or base64, as the response itself or in a field
 * with one of the names used among services, outermost first.
 */
function destinationIn(json: unknown, depth = DEPTH): ClipDestination | undefined {
  if (typeof json === 'string') return parseDestination(json, true);
  if (typeof json !== 'object' || json === null || depth < 0) return undefined;
  if (Array.isArray(json)) {
    // In a nested list, a plain string may be anything.
    const text = depth === DEPTH ? textAt(json, true) : undefined;
    return text ?? firstOf(json, (value) => (isText(value) ? undefined : destinationIn(value, depth - 1)));
  }
  const fields = Object.entries(json).map(([name, value]) => ({ name: plain(name), value: value as unknown }));
  const under = (name: string) => fields.find((field) => field.name === name)?.value;
  return (
    firstOf(ADDRESS_NAMES, (name) => textAt(under(name), true)) ??
    firstOf(RESULT_NAMES, (name) => textAt(under(name), false)) ??
    firstOf(fields, ({ name, value }) => (OTHER_NAMES.test(name) ? undefined : withinOf(value, depth)))
  );
}

/** Reads a string, or the first usable string of a list. */
function textAt(value: unknown, mayBeRelative: boolean): ClipDestination | undefined {
  const texts: readonly unknown[] = Array.isArray(value) ? value : [value];
  return firstOf(texts.filter(isText), (text) => parseDestination(text, mayBeRelative));
}

/** Reads a field with any other name: an object, or base64 whose first bytes are a clip's. */
function withinOf(value: unknown, depth: number): ClipDestination | undefined {
  if (!isText(value)) return destinationIn(value, depth - 1);
  const destination = parseDestination(value, false);
  return destination !== undefined && 'bytes' in destination ? destination : undefined;
}

function parseDestination(text: string, mayBeRelative: boolean): ClipDestination | undefined {
  const given = text.trim();
  if (/^(https?:)?\/\/\S+$/i.test(given)) return { address: given };
  const bytes = decoded(given);
  if (bytes !== null) return { bytes };
  return mayBeRelative && isRelative(given) ? { address: given } : undefined;
}

/** Decodes a clip in base64, with or without the prefix of a `data:` URI. */
function decoded(text: string): Buffer | null {
  const encoded = text.slice(/^data:[^,]{0,200};base64,/i.exec(text)?.[0].length ?? 0);
  const start = encoded.slice(0, SIGNATURE_CHARACTERS);
  if (start.length < SIGNATURE_CHARACTERS || !/^[\w+/-]+$/.test(start)) return null;
  return videoTypeOf(Buffer.from(start, 'base64')) === null ? null : Buffer.from(encoded, 'base64');
}

/**
 * Returns whether a text is a path: it contains a slash or ends like a video file. The field may also hold an error.
 */
function isRelative(text: string): boolean {
  if (text.length > MAX_RELATIVE_LENGTH || /\s/.test(text) || /^[a-z][a-z\d+.-]*:/i.test(text)) return false;
  return text.includes('/') || /\.(mp4|m4v|mov|webm|mkv|avi|ogv)(\?|$)/i.test(text);
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll('_', '');
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function firstOf<Item, Found>(items: Iterable<Item>, find: (item: Item) => Found | undefined): Found | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
