import { randomBytes } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { fakeClip, sendBytes } from '../fakes/clip.ts';
import type { HttpReply } from '../fakes/services/http.ts';
import type { RecordedRequest } from '../fakes/video-service.ts';
import { makeShots, padded, type Shot } from './clips.ts';
import { type ContentFate, type CreateFate, type Fate, NO_FATE, type PollFate, TAKEN, TOLD } from './fates.ts';
import type { Create, Made, Withdrawal } from './history.ts';
import type { Listing } from './profiles.ts';
import type { Event } from './tally.ts';
import type { Wire, WireCall, WireTask } from './wires/wire.ts';

const SLOW_MS = 600;
/** Size of the first clip; each clip is one byte longer than the one before, so that they can be distinguished. */
const CLIP_BYTES = 60_000;
/**
 * Shortest time from the last look at a queued task to its end, where a request to cancel it would then delete the clip: no
 * real service makes a clip within seconds.
 */
const MADE_WITHIN_MS = 8_000;
const DAY_MS = 24 * 3_600_000;
/** Time between a lost task and the stranger's beside it. */
const STRANGER_MS = 400;

/** Video service of a run: misbehaves according to each prompt's fate, and records everything. */
export interface Service {
  readonly port: number;
  /** Path of its base URL. */
  readonly basePath: string;
  /** Issues the token of one process, which identifies it in requests. */
  readonly tokenOf: (replica: number, life: number) => string;
  readonly tokens: readonly string[];
  /** Its own ledger, taken as the truth. */
  readonly creates: readonly Create[];
  readonly made: () => readonly Made[];
  readonly withdrawals: readonly Withdrawal[];
  /** Requests that its contract does not allow. */
  readonly misuses: readonly string[];
  /** Number of times that each event happened. */
  readonly events: ReadonlyMap<Event, number>;
  /** Withdraws every key, or gives it back. */
  setKeys(areValid: boolean): void;
  close(): Promise<void>;
}

/** Options of {@link startService}. */
export interface ServiceOptions {
  readonly wire: Wire;
  /** Faults of its list; `null`: it has none. */
  readonly listing: Listing | null;
  /** Names of the models in the catalog, by their ids at the service. */
  readonly names: ReadonlyMap<string, string>;
  /** Returns the fate of each interaction. */
  readonly fateOf: (order: string) => Fate | undefined;
  readonly nowMs: () => number;
  /** Size of the first clip in bytes; given, clips cannot be played or joined, and need no time to be made. */
  readonly clipBytes?: number | undefined;
}

/** State of everything that results from one prompt. */
interface Thread {
  readonly order: string;
  readonly fate: Fate;
  posts: number;
  /** Number of its tasks. */
  tasks: number;
}

interface MadeTask {
  readonly task: WireTask;
  /** Task id in Dailies; `null` for a stranger's. */
  readonly key: string | null;
  readonly fate: Fate;
  readonly clip: Buffer;
  readonly pictures: readonly string[];
  /** Number of correct responses to polls. */
  polls: number;
  pollAnswers: number;
  contentAnswers: number;
  cancelAnswers: number;
  /** Time of the last report of it as queued. */
  queuedAtMs: number | null;
  cancelledAtMs: number | null;
  isDeleted: boolean;
}

type Entry = { -readonly [Key in keyof Create]: Create[Key] };

/** Request with everything needed for a valid or faulty response. */
interface Exchange {
  readonly request: RecordedRequest;
  readonly response: ServerResponse;
}

/** Starts the service. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const shots = options.clipBytes === undefined ? await makeShots() : [];
  const service = new ChaosService(options, shots);
  await service.start();
  return service;
}

class ChaosService implements Service {
  readonly creates: Entry[] = [];
  readonly withdrawals: Withdrawal[] = [];
  readonly misuses: string[] = [];
  readonly events = new Map<Event, number>();
  readonly #options: ServiceOptions;
  readonly #shots: readonly Shot[];
  readonly #senders = new Map<string, Create['sender']>();
  readonly #threads = new Map<string, Thread>();
  readonly #made = new Map<string, MadeTask>();
  readonly #old: readonly WireTask[];
  readonly #api: Server;
  readonly #storage: Server;
  #areKeysValid = true;
  /** Paths of requests that were refused with a withdrawn key. */
  readonly #refusedPaths = new Set<string>();
  #listAnswers = 0;
  #storageUrl = '';

  constructor(options: ServiceOptions, shots: readonly Shot[]) {
    this.#options = options;
    this.#shots = shots;
    this.#old = oldTasks(options.listing?.old ?? 0);
    this.#api = serverOf((exchange) => this.#answer(exchange));
    this.#storage = serverOf((exchange) => this.#file(exchange));
  }

  async start(): Promise<void> {
    for (const server of [this.#api, this.#storage])
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    this.#storageUrl = `http://127.0.0.1:${portOf(this.#storage)}`;
  }

  get port(): number {
    return portOf(this.#api);
  }

  get basePath(): string {
    return this.#options.wire.basePath;
  }

  get tokens(): readonly string[] {
    return [...this.#senders.keys()];
  }

  tokenOf(replica: number, life: number): string {
    const token = `sk-chaos-${replica}-${life}-${randomBytes(8).toString('hex')}`;
    this.#senders.set(token, { replica, life });
    return token;
  }

  setKeys(areValid: boolean): void {
    this.#areKeysValid = areValid;
  }

  made(): readonly Made[] {
    return [...this.#made.values()].map(({ task, key, fate, clip, pictures, cancelledAtMs }) => ({
      upstreamId: task.id,
      status:
        task.status === 'queued' || task.status === 'in_progress' || task.status === 'unknown' ? 'open' : task.status,
      clipBytes: clip.length,
      pictures,
      isGone: fate.isGone,
      ...(key === null ? { isStrangers: true as const } : {}),
      ...(isReported(task, this.#options.wire) ? { cost: task.cost } : {}),
      ...(cancelledAtMs === null ? {} : { cancelledAtMs }),
      ...(this.#options.wire.withdrawal?.forgets === true && cancelledAtMs !== null
        ? { isForgotten: true as const }
        : {}),
    }));
  }

  async close(): Promise<void> {
    for (const server of [this.#api, this.#storage]) {
      const closed = new Promise<void>((done) => server.close(() => done()));
      server.closeAllConnections();
      await closed;
    }
  }

  #count(event: Event): void {
    this.events.set(event, (this.events.get(event) ?? 0) + 1);
  }

  #answer(exchange: Exchange): unknown {
    const { wire } = this.#options;
    const { request } = exchange;
    const call = wire.callOf(request);
    const key = wire.keyOf(request);
    const sender = this.#senders.get(key);
    if (sender === undefined) {
      // Where a clip is refused with the key, it is asked for without it: some services want none there.
      const isSecondTry = key === '' && request.method === 'GET' && this.#refusedPaths.has(request.path);
      if (!isSecondTry) this.misuses.push(`${request.method} ${request.path} without a key that was issued`);
      return send(exchange, wire.refuse('unauthorised'));
    }
    if (!this.#areKeysValid) {
      this.#count('requests with a withdrawn key');
      if (call?.kind === 'create') this.#note(exchange, sender, 'withdrawn');
      this.#refusedPaths.add(request.path);
      return send(exchange, wire.refuse('unauthorised'));
    }
    if (call === null) {
      this.misuses.push(`${request.method} ${request.path}`);
      return send(exchange, wire.refuse('missing'));
    }
    return this.#do(call, exchange, sender);
  }

  #do(call: WireCall, exchange: Exchange, sender: Create['sender']): unknown {
    const { wire } = this.#options;
    if (call.kind === 'create') return this.#create(exchange, sender);
    if (call.kind === 'list') return this.#list(exchange, call);
    const one = this.#made.get(call.id);
    if (one === undefined || one.isDeleted) return send(exchange, wire.refuse('missing'));
    if (one.cancelledAtMs !== null && wire.withdrawal?.forgets === true) return send(exchange, wire.refuse('missing'));
    if (call.kind === 'cancel') return this.#cancel(exchange, one);
    if (call.kind === 'content') return this.#content(exchange, one);
    return this.#look(exchange, one, call.kind);
  }

  #create(exchange: Exchange, sender: Create['sender']): unknown {
    const { wire } = this.#options;
    const { request } = exchange;
    const problem = wire.problemOf(request);
    if (problem !== null) {
      this.misuses.push(`${request.method} ${request.path}: ${JSON.stringify(problem.json)}`);
      this.#note(exchange, sender, 'refused');
      return send(exchange, problem);
    }
    const thread = this.#threadOf(wire.promptOf(request));
    const fate = thread.fate.creates[thread.posts] ?? 'right';
    thread.posts += 1;
    const entry = this.#note(exchange, sender, fate);
    if (request.body.includes('"data:image/')) this.#count('frames in the request');
    const made = TAKEN.has(fate) ? this.#take(request, thread, entry.key) : null;
    entry.upstreamId = made?.task.id ?? null;
    if (made !== null && !TOLD.has(fate)) this.#addStranger(made);
    return answerCreate(exchange, fate, { wire, task: made?.task ?? null });
  }

  /** Writes a create into the ledger. */
  #note({ request, response }: Exchange, sender: Create['sender'], fate: CreateFate): Entry {
    const { wire, names, nowMs } = this.#options;
    const model = wire.modelOf(request);
    const entry: Entry = {
      // From the third submission on, the number of the submission follows.
      key: String(request.headers['idempotency-key']).split(':', 1)[0] ?? '',
      order: this.#threadOf(wire.promptOf(request)).order,
      model: names.get(model) ?? model,
      sender,
      fate,
      upstreamId: null,
      atMs: nowMs(),
      answeredAtMs: null,
    };
    this.creates.push(entry);
    response.once('finish', () => {
      entry.answeredAtMs = nowMs();
    });
    return entry;
  }

  #threadOf(prompt: string): Thread {
    const order = /s\d+-\d+/.exec(prompt)?.[0] ?? prompt;
    const fate = this.#options.fateOf(order) ?? NO_FATE;
    const thread = this.#threads.get(order) ?? { order, fate, posts: 0, tasks: 0 };
    this.#threads.set(order, thread);
    return thread;
  }

  #take(request: RecordedRequest, thread: Thread, key: string): MadeTask {
    thread.tasks += 1;
    const isFailing = thread.tasks === 1 && thread.fate.failsFirst === true;
    const fate: Fate = isFailing ? { ...thread.fate, ends: 'failed' } : thread.fate;
    return this.#add(request, { key, fate, body: JSON.parse(request.body) as WireTask['body'] });
  }

  #add(
    request: RecordedRequest,
    {
      key,
      fate,
      body,
      createdAtMs = Date.now(),
    }: Pick<MadeTask, 'key' | 'fate'> & Pick<WireTask, 'body'> & { createdAtMs?: number },
  ): MadeTask {
    const { wire, clipBytes = 0 } = this.#options;
    const place = this.#made.size;
    const id = wire.idOf(place + 1, request);
    const isFree = fate.ends === 'failed' && (!fate.isFailureBilled || Number(fate.cost) === 0);
    const task: WireTask = {
      id,
      body,
      model: wire.modelOf(request),
      createdAtMs,
      status: 'queued',
      progress: 0,
      failure: null,
      cost: isFree ? null : fate.cost,
      clipUrl: `${this.#storageUrl}/files/${encodeURIComponent(id)}?X-Signature=9f`,
    };
    const shot = this.#shots[place % this.#shots.length];
    const clip = shot === undefined ? fakeClip(clipBytes + place) : padded(shot.content, CLIP_BYTES + place);
    const counts = { polls: 0, pollAnswers: 0, contentAnswers: 0, cancelAnswers: 0 };
    const times = { queuedAtMs: null, cancelledAtMs: null };
    const one: MadeTask = {
      task,
      key,
      fate,
      clip,
      pictures: shot?.pictures ?? [],
      ...counts,
      ...times,
      isDeleted: false,
    };
    this.#made.set(id, one);
    return one;
  }

  /** Adds a task of a stranger that was made a moment after one whose answer is lost: it is never listed without that one. */
  #addStranger({ task: { body, model, createdAtMs }, fate: { stranger } }: MadeTask): void {
    if (this.#options.listing === null || stranger === null) return;
    const { duration: _duration, ...vague } = body;
    const says = { alike: body, unlike: { ...body, resolution: '1080p' }, vague }[stranger];
    const request = { method: 'POST', path: '', headers: {}, body: JSON.stringify({ model }) };
    const of = { key: null, fate: NO_FATE, body: says, createdAtMs: createdAtMs + STRANGER_MS };
    this.#add(request, of);
    if (stranger === 'alike') this.#count("strangers' tasks alike");
  }

  #look(exchange: Exchange, one: MadeTask, kind: 'task' | 'result'): unknown {
    const { wire } = this.#options;
    const fault = one.fate.pollFaults[one.pollAnswers] ?? 'right';
    one.pollAnswers += 1;
    const answer = (task: WireTask): HttpReply =>
      kind === 'task' || wire.result === undefined ? wire.state(task) : wire.result(task);
    if (fault !== 'right')
      return answerPoll(exchange, fault, { wire, unknown: answer({ ...one.task, status: 'unknown' }) });
    if (kind === 'task') this.#advance(one);
    return send(exchange, answer(one.task));
  }

  /** Moves a task on, with each correct response to a poll. */
  #advance(one: MadeTask): void {
    const { task, fate } = one;
    const { wire, nowMs } = this.#options;
    if (isOver(task)) return;
    one.polls += 1;
    const queued = this.#queuedIn(one);
    if (one.polls <= queued) {
      one.queuedAtMs = nowMs();
      return;
    }
    const waitedMs = one.queuedAtMs === null ? Number.POSITIVE_INFINITY : nowMs() - one.queuedAtMs;
    const isSoon = wire.withdrawal?.deletesEnded === true && waitedMs < MADE_WITHIN_MS;
    const polls = one.polls - queued;
    task.progress = Math.min(99, Math.trunc((100 * polls) / (fate.polls + 1)));
    task.status = 'in_progress';
    if (polls > fate.polls && !isSoon) this.#end(one);
  }

  /** Returns the number of looks for which a task is queued. */
  #queuedIn({ fate }: MadeTask): number {
    return this.#options.wire.withdrawal === undefined ? 0 : fate.queued;
  }

  #end({ task, fate }: MadeTask): void {
    task.progress = 100;
    task.status = fate.ends;
    if (fate.ends === 'failed') task.failure = { code: 'generation_failed', message: 'It did not work.' };
    if (fate.ends === 'failed' && task.cost !== null && this.#options.wire.reportsCost)
      this.#count('failures that are billed');
  }

  #cancel(exchange: Exchange, one: MadeTask): unknown {
    const { wire, nowMs } = this.#options;
    const { withdrawal } = wire;
    if (withdrawal === undefined) return send(exchange, wire.refuse('missing'));
    const fate = one.fate.cancels[one.cancelAnswers] ?? 'right';
    one.cancelAnswers += 1;
    const { id, status } = one.task;
    const isQueued = status === 'queued' && one.cancelledAtMs === null;
    const entry = { upstreamId: id, status, fate, atMs: nowMs() };
    if (isQueued && fate === 'ignored') this.#count('cancels lost, completed all the same');
    else if (isQueued && fate === 'started') this.#begin(one);
    else if (isQueued && fate === 'completed') this.#race(one);
    else if (isQueued) this.#withdraw(one, fate === 'lost');
    const isLost = isQueued && (fate === 'ignored' || fate === 'lost');
    if (isOver({ ...one.task, status }) && withdrawal.deletesEnded) one.isDeleted = true;
    this.withdrawals.push({
      ...entry,
      deletesEnded: withdrawal.deletesEnded,
      isConfirmed: one.cancelledAtMs !== null && !isLost,
    });
    return isLost ? exchange.response.socket?.resetAndDestroy() : send(exchange, withdrawal.withdrawn(becameOf(one)));
  }

  #withdraw(one: MadeTask, isLost: boolean): void {
    one.task.status = 'cancelled';
    one.cancelledAtMs = this.#options.nowMs();
    this.#count(isLost ? 'cancels done, answer lost' : 'cancels done');
  }

  #begin(one: MadeTask): void {
    // Its wait is over.
    one.polls = this.#queuedIn(one);
    one.task.status = 'in_progress';
    this.#count('cancels that raced the start');
  }

  #race(one: MadeTask): unknown {
    if (this.#options.wire.withdrawal?.deletesEnded === true) return this.#begin(one);
    one.polls = this.#queuedIn(one) + one.fate.polls + 1;
    this.#end(one);
    return this.#count('cancels that raced the completion');
  }

  #list(exchange: Exchange, { page, size }: Extract<WireCall, { kind: 'list' }>): unknown {
    const { wire, listing } = this.#options;
    if (wire.list === undefined || listing === null) return send(exchange, wire.refuse('missing'));
    const fault = listing.faults[this.#listAnswers] ?? 'right';
    this.#listAnswers += 1;
    const known = [...this.#made.values()].filter(({ isDeleted }) => !isDeleted).map(({ task }) => task);
    const old = known.filter(({ createdAtMs }) => Date.now() - createdAtMs >= listing.lateMs);
    const newestFirst = [...this.#old, ...old].toSorted((one, other) => other.createdAtMs - one.createdAtMs);
    const all = listing.isOldestFirst ? newestFirst.toReversed() : newestFirst;
    const items = all.slice((page - 1) * size, page * size);
    const reply = wire.list(items, all.length);
    if (fault !== 'right') return answerPoll(exchange, fault, { wire, unknown: reply });
    if (old.length < known.length) this.#count('lists that were late');
    if (page > 1 && items.length > 0) this.#count('further pages of a list');
    return send(exchange, reply);
  }

  #content(exchange: Exchange, one: MadeTask): unknown {
    const { wire } = this.#options;
    if (one.task.status !== 'completed') return send(exchange, wire.refuse('early'));
    return this.#clip(exchange, one);
  }

  #clip(exchange: Exchange, one: MadeTask): unknown {
    const { wire } = this.#options;
    if (one.fate.isGone) return send(exchange, { ...wire.refuse('missing'), status: 410 });
    const fault = one.fate.contentFaults[one.contentAnswers] ?? 'right';
    one.contentAnswers += 1;
    return answerContent(exchange, fault, { wire, clip: one.clip, elsewhere: `${one.task.clipUrl}&again` });
  }

  /** Serves a clip to those with its signed URL, as object storages do: a key of the service is refused. */
  #file(exchange: Exchange): unknown {
    const { path, headers } = exchange.request;
    const url = new URL(path, 'http://storage');
    const one = this.#made.get(decodeURIComponent(url.pathname.replace('/files/', '')));
    if (headers.authorization !== undefined) {
      this.misuses.push('a key that went to the storage');
      return send(exchange, { status: 400, json: { error: 'only one auth mechanism allowed' } });
    }
    if (one === undefined || url.searchParams.get('X-Signature') === null) return send(exchange, { status: 403 });
    if (url.searchParams.has('again')) return sendBytes(exchange, one.clip);
    return this.#clip(exchange, one);
  }
}

/** Returns whether the service says what a task has cost. */
function isReported({ status }: WireTask, { reportsCost }: Wire): boolean {
  return reportsCost && (status === 'completed' || status === 'failed');
}

function isOver({ status }: Pick<WireTask, 'status'>): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

function becameOf({ task: { status } }: MadeTask): 'cancelled' | 'running' | 'ended' {
  if (status === 'cancelled') return 'cancelled';
  return status === 'completed' || status === 'failed' ? 'ended' : 'running';
}

/** Returns tasks of another day, which are nobody's here. */
function oldTasks(count: number): readonly WireTask[] {
  const ended = { status: 'completed', progress: 100, failure: null, cost: null, clipUrl: '' } as const;
  return Array.from({ length: count }, (_, at) => ({
    ...ended,
    id: `cgt-20261126${String(at).padStart(6, '0')}-x7k2p`,
    body: {},
    model: 'seedance-1-5-pro-251215',
    createdAtMs: Date.now() - DAY_MS - at * 1_000,
  }));
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

function serverOf(answer: (exchange: Exchange) => void): Server {
  return createServer((incoming, response) => {
    const parts: Buffer[] = [];
    incoming.on('error', () => {});
    response.on('error', () => {});
    incoming.on('data', (part: Buffer) => parts.push(part));
    incoming.on('end', () => {
      const { method = '', url: path = '', headers } = incoming;
      answer({ request: { method, path, headers, body: Buffer.concat(parts).toString('utf8') }, response });
    });
  });
}

function send({ response }: Exchange, { status, headers = {}, json }: HttpReply): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(json === undefined ? '' : JSON.stringify(json));
}

function answerCreate(
  exchange: Exchange,
  fate: CreateFate,
  { wire, task }: { readonly wire: Wire; readonly task: WireTask | null },
): void {
  const right = (): void => {
    if (task !== null) send(exchange, wire.created(task));
  };
  const answers: Readonly<Record<CreateFate, () => unknown>> = {
    right,
    slow: () => delay(SLOW_MS).then(right),
    silent: () => undefined,
    reset: () => exchange.response.socket?.resetAndDestroy(),
    dropped: () => exchange.response.socket?.resetAndDestroy(),
    half: () => (task === null ? undefined : half(exchange, wire.created(task))),
    gateway: () => page(exchange, 504, 'text/html', '<html><h1>504</h1></html>'),
    broken: () => send(exchange, wire.refuse('broken')),
    busy: () => send(exchange, wire.refuse('busy')),
    refused: () => send(exchange, wire.refuse('refused')),
    withdrawn: () => send(exchange, wire.refuse('unauthorised')),
  };
  answers[fate]();
}

function answerPoll(
  exchange: Exchange,
  fate: Exclude<PollFate, 'right'>,
  { wire, unknown }: { readonly wire: Wire; readonly unknown: HttpReply },
): void {
  const answers: Readonly<Record<typeof fate, () => unknown>> = {
    error: () => send(exchange, wire.refuse('unavailable')),
    busy: () => send(exchange, wire.refuse('busy')),
    unknown: () => send(exchange, unknown),
    half: () => half(exchange, unknown),
    silent: () => undefined,
    missing: () => send(exchange, wire.refuse('missing')),
    reset: () => exchange.response.socket?.resetAndDestroy(),
  };
  answers[fate]();
}

function answerContent(
  exchange: Exchange,
  fate: ContentFate,
  { wire, clip, elsewhere }: { readonly wire: Wire; readonly clip: Buffer; readonly elsewhere: string },
): void {
  const answers: Readonly<Record<ContentFate, () => unknown>> = {
    right: () => sendBytes(exchange, clip),
    early: () => send(exchange, wire.refuse('early')),
    missing: () => send(exchange, { ...wire.refuse('missing'), status: 404 }),
    half: () => sendBytes(exchange, clip, { breakAfter: clip.length / 2 }),
    page: () => page(exchange, 200, 'video/mp4', '{"error":"try again"}'),
    error: () => send(exchange, { ...wire.refuse('unavailable'), status: 502 }),
    elsewhere: () => exchange.response.writeHead(302, { location: elsewhere }).end(),
    json: () => send(exchange, { status: 200, json: { video_url: elsewhere } }),
  };
  answers[fate]();
}

function page({ response }: Exchange, status: number, contentType: string, text: string): void {
  response.writeHead(status, { 'content-type': contentType }).end(text);
}

/** Announces the length of the whole response and sends its first half. */
function half({ response }: Exchange, { json }: HttpReply): void {
  const whole = JSON.stringify(json) ?? '';
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(whole) });
  response.write(whole.slice(0, whole.length / 2), () => response.socket?.destroySoon());
}
