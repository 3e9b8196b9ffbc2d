import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { fakeClip, sendBytes } from '../fakes/clip.ts';
import { DIALECTS } from '../fakes/dialects.ts';
import {
  type Call,
  type FakeTask,
  type FakeVideoService,
  type Handler,
  startVideoService,
} from '../fakes/video-service.ts';
import { makeShots, padded, type Shot } from './clips.ts';
import { type ContentFate, type CreateFate, type Fate, NO_FATE, type PollFate } from './fates.ts';
import type { Create, Made } from './history.ts';

const SLOW_MS = 600;
/** Size of the first clip; each clip is one byte longer than the one before, so that they can be distinguished. */
const CLIP_BYTES = 60_000;

/** Video service of a run: misbehaves according to each prompt's fate, and records everything. */
export interface Service {
  readonly port: number;
  /** Issues the token of one process, which identifies it in requests. */
  readonly tokenOf: (replica: number, life: number) => string;
  readonly tokens: readonly string[];
  /** Its own ledger, taken as the truth. */
  readonly creates: readonly Create[];
  readonly made: () => readonly Made[];
  close(): Promise<void>;
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
  readonly task: FakeTask;
  readonly fate: Fate;
  readonly clip: Buffer;
  readonly pictures: readonly string[];
  pollAnswers: number;
  contentAnswers: number;
}

/** Starts the service. `fateOf` returns the fate of each interaction. */
export async function startService(options: {
  readonly dialect: string;
  readonly fateOf: (order: string) => Fate | undefined;
  readonly nowMs: () => number;
  /** Size of the first clip in bytes; given, clips cannot be played or joined, and need no time to be made. */
  readonly clipBytes?: number | undefined;
}): Promise<Service> {
  const { nowMs, clipBytes } = options;
  const shots: readonly Shot[] = clipBytes === undefined ? await makeShots() : [];
  const senders = new Map<string, Create['sender']>();
  const creates: { -readonly [Key in keyof Create]: Create[Key] }[] = [];
  const threads = new Map<string, Thread>();
  const made = new Map<string, MadeTask>();
  const dialect = DIALECTS[options.dialect];
  if (dialect === undefined) throw new TypeError(`there is no dialect ${options.dialect}`);

  const threadOf = (prompt: string): Thread => {
    const order = /s\d+-\d+/.exec(prompt)?.[0] ?? prompt;
    const thread = threads.get(order) ?? { order, fate: options.fateOf(order) ?? NO_FATE, posts: 0, tasks: 0 };
    threads.set(order, thread);
    return thread;
  };

  const take = (call: Call, thread: Thread): MadeTask => {
    thread.tasks += 1;
    const isFailing = thread.tasks === 1 && thread.fate.failsFirst === true;
    const fate: Fate = isFailing ? { ...thread.fate, ends: 'failed' } : thread.fate;
    const { model } = JSON.parse(call.request.body) as { model: string };
    const task = call.service.add({ model });
    const shot = shots[made.size % shots.length];
    const clip =
      shot === undefined ? fakeClip((clipBytes ?? 0) + made.size) : padded(shot.content, CLIP_BYTES + made.size);
    const one = { task, fate, clip, pictures: shot?.pictures ?? [], pollAnswers: 0, contentAnswers: 0 };
    made.set(task.id, one);
    return one;
  };

  const create: Handler = (call) => {
    const { prompt, model } = JSON.parse(call.request.body) as { prompt: string; model: string };
    const thread = threadOf(prompt);
    const fate = thread.fate.creates[thread.posts] ?? 'right';
    thread.posts += 1;
    const sender = senders.get(call.request.headers.authorization?.replace('Bearer ', '') ?? '');
    if (sender === undefined) throw new TypeError('a POST of nobody');
    const entry: (typeof creates)[number] = {
      // From the third submission on, the number of the submission follows.
      key: String(call.request.headers['idempotency-key']).split(':', 1)[0] ?? '',
      order: thread.order,
      model,
      sender,
      fate,
      upstreamId: TAKEN.has(fate) ? take(call, thread).task.id : null,
      atMs: nowMs(),
      answeredAtMs: null,
    };
    creates.push(entry);
    call.response.once('finish', () => {
      entry.answeredAtMs = nowMs();
    });
    const task = entry.upstreamId === null ? undefined : made.get(entry.upstreamId)?.task;
    answerCreate(call, fate, task === undefined ? null : dialect.task(task), dialect.createStatus ?? 200);
  };

  const right = (call: Call, one: MadeTask): void => {
    const { task, fate } = one;
    task.polls += 1;
    const isOver = task.polls > fate.polls;
    task.status = isOver ? fate.ends : 'in_progress';
    task.progress = isOver ? 100 : Math.trunc((100 * task.polls) / (fate.polls + 1));
    if (isOver && fate.ends === 'failed') task.failure = { code: 'generation_failed', message: 'It did not work.' };
    call.json(200, dialect.task(task));
  };

  const retrieve: Handler = (call) => {
    const one = made.get(call.task?.id ?? '');
    if (one === undefined) return call.refuse(404, 'task_not_exist', 'There is no such task.');
    const fault = one.fate.pollFaults[one.pollAnswers] ?? 'right';
    one.pollAnswers += 1;
    if (fault === 'right') right(call, one);
    else answerPoll(call, fault, dialect.task({ ...one.task, status: 'unknown' }));
  };

  const content: Handler = (call) => {
    const one = made.get(call.task?.id ?? '');
    if (one === undefined) return call.refuse(404, 'task_not_exist', 'There is no such task.');
    if (one.task.status !== 'completed') return call.refuse(409, 'not_ready', 'The task is not completed.');
    if (one.fate.isGone) return call.refuse(410, 'gone', 'The clip is gone.');
    const fault = one.fate.contentFaults[one.contentAnswers] ?? 'right';
    one.contentAnswers += 1;
    answerContent(call, fault, one.clip);
  };

  const file: Handler = (call) => {
    const one = made.get(decodeURIComponent(call.request.path.replace('/files/', '')));
    if (one === undefined) call.refuse(404, 'not_found', 'There is no such file.');
    else sendBytes(call, one.clip);
  };

  const fake: FakeVideoService = await startVideoService({
    dialect,
    record: false,
    isToken: (token) => senders.has(token),
    handlers: { create, retrieve, content, file },
  });
  return {
    port: Number(new URL(fake.baseUrl).port),
    creates,
    tokenOf(replica, life) {
      const token = `sk-chaos-${replica}-${life}-${randomBytes(8).toString('hex')}`;
      senders.set(token, { replica, life });
      return token;
    },
    get tokens() {
      return [...senders.keys()];
    },
    made: () =>
      [...made.values()].map(({ task, fate, clip, pictures }) => ({
        upstreamId: task.id,
        status: task.status === 'completed' || task.status === 'failed' ? task.status : 'open',
        clipBytes: clip.length,
        pictures,
        isGone: fate.isGone,
      })),
    close: () => fake.close(),
  };
}

/** Fates after which a task exists and is billed. */
const TAKEN: ReadonlySet<CreateFate> = new Set(['right', 'slow', 'silent', 'reset', 'half', 'gateway']);

function answerCreate(call: Call, fate: CreateFate, task: unknown, status: number): void {
  const answers: Readonly<Record<CreateFate, () => unknown>> = {
    right: () => call.json(status, task),
    slow: () => delay(SLOW_MS).then(() => call.json(status, task)),
    silent: () => undefined,
    reset: () => call.response.socket?.resetAndDestroy(),
    dropped: () => call.response.socket?.resetAndDestroy(),
    half: () => half(call, task),
    gateway: () => page(call, 504, 'text/html', '<html><h1>504</h1></html>'),
    broken: () => call.refuse(500, 'internal_error', 'Something broke.'),
    busy: () => call.refuse(429, 'rate_limited', 'Too many at once.', { 'retry-after': '1' }),
    refused: () => call.refuse(400, 'content_policy_violation', 'Not this one.'),
  };
  answers[fate]();
}

function answerPoll(call: Call, fate: Exclude<PollFate, 'right'>, unknown: unknown): void {
  const answers: Readonly<Record<typeof fate, () => unknown>> = {
    error: () => call.refuse(503, 'unavailable', 'Not now.'),
    busy: () => call.refuse(429, 'rate_limited', 'Too many polls.', { 'retry-after': '1' }),
    unknown: () => call.json(200, unknown),
    half: () => half(call, unknown),
    silent: () => undefined,
    missing: () => call.refuse(404, 'task_not_exist', 'There is no such task.'),
    reset: () => call.response.socket?.resetAndDestroy(),
  };
  answers[fate]();
}

function answerContent(call: Call, fate: ContentFate, clip: Buffer): void {
  const elsewhere = `${call.service.baseUrl}/files/${encodeURIComponent(call.task?.id ?? '')}`;
  const answers: Readonly<Record<ContentFate, () => unknown>> = {
    right: () => sendBytes(call, clip),
    early: () => call.refuse(409, 'not_ready', 'The clip is not there yet.'),
    missing: () => call.refuse(404, 'not_found', 'There is no clip.'),
    half: () => sendBytes(call, clip, { breakAfter: clip.length / 2 }),
    page: () => page(call, 200, 'video/mp4', '{"error":"try again"}'),
    error: () => call.refuse(502, 'bad_gateway', 'No.'),
    elsewhere: () => call.response.writeHead(302, { location: elsewhere }).end(),
    json: () => call.json(200, { video_url: elsewhere }),
  };
  answers[fate]();
}

function page({ response }: Call, status: number, contentType: string, text: string): void {
  response.writeHead(status, { 'content-type': contentType }).end(text);
}

/** Announces the length of the whole response and sends its first half. */
function half({ response }: Call, body: unknown): void {
  const whole = JSON.stringify(body);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(whole) });
  response.write(whole.slice(0, whole.length / 2), () => response.socket?.destroySoon());
}
