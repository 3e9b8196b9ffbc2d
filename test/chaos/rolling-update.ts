/**
 * `npm run rolling-update -- --from REVISION --to REVISION --store redis|sqlite`: updates the whole program from one
 * revision to another and rolls it back, by SIGTERM and by SIGKILL, while the video service has tasks in every state;
 * on Redis with both revisions side by side in between, on SQLite one after the other. Judges from outside: by the POSTs
 * that the service received and by what the chat shows.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { asDailiesError } from '#src/errors.ts';
import { RedisServer } from '../fakes/redis-server.ts';
import { type ScriptedService, type ScriptName, startScriptedService } from '../fakes/scripted-service.ts';
import {
  checkOut,
  type PlaygroundMessage,
  type RunningProgram,
  removeCheckout,
  startProgram,
  until,
} from './checkout.ts';

/** Prompts of one batch, and the state in which each has to end. `late` is cancelled by its requester. */
const ORDERS = {
  done: 'completed',
  open: 'completed',
  fetching: 'completed',
  failed: 'failed',
  rejected: 'rejected',
  unfetchable: 'completed',
  late: 'cancelled',
  uncertain: 'uncertain',
  hang: 'uncertain',
} as const satisfies Partial<Record<ScriptName, string>>;
type OrderName = keyof typeof ORDERS;
const NAMES = Object.keys(ORDERS) as readonly OrderName[];

/** Takes of a set that the newer revision orders before each rollback. They run until the end. */
const TAKES = 3;

type Signal = 'SIGTERM' | 'SIGKILL';
type Side = 'from' | 'to';

/** Updates and rollbacks in turn: which side takes over, and how the other one is stopped. */
const STEPS: readonly { readonly next: Side; readonly signal: Signal }[] = [
  { next: 'to', signal: 'SIGTERM' },
  { next: 'from', signal: 'SIGTERM' },
  { next: 'to', signal: 'SIGKILL' },
  { next: 'from', signal: 'SIGKILL' },
  { next: 'to', signal: 'SIGTERM' },
];

const ANSWER_TIMEOUT_MS = 60_000;
/** Time for the leases of killed processes to expire, and for everything else to be repeated. */
const SETTLE_TIMEOUT_MS = 180_000;
const USAGE =
  'npm run rolling-update takes --from and --to (git revisions; default: the parent of HEAD, and HEAD) and --store ' +
  '(redis or sqlite; default: both)';

interface Options {
  readonly revisions: Readonly<Record<Side, string>>;
  readonly stores: readonly ('redis' | 'sqlite')[];
}

function readOptions(): Options {
  try {
    const string = { type: 'string' } as const;
    const { values } = parseArgs({ options: { from: string, to: string, store: string } });
    const { from = 'HEAD~1', to = 'HEAD', store } = values;
    const revisions = { from, to };
    if (store === undefined) return { revisions, stores: ['redis', 'sqlite'] };
    return store === 'redis' || store === 'sqlite'
      ? { revisions, stores: [store] }
      : fail(`--store takes redis or sqlite, not ${store}`);
  } catch (thrown) {
    return fail(asDailiesError(thrown, 'reading the options').message);
  }
}

function fail(sentence: string): never {
  process.stderr.write(`${sentence}; ${USAGE}\n`);
  process.exit(2);
}

/** One update there and back on one store. */
class Run {
  readonly #start: (side: Side) => Promise<RunningProgram>;
  readonly #isShared: boolean;
  readonly #service: ScriptedService;
  readonly #programs = new Map<Side, RunningProgram>();
  readonly #prompts: string[] = [];
  /** Prompts of the sets. */
  readonly #sets: string[] = [];
  /** Prompts of the clips that were deleted. */
  readonly #deleted: string[] = [];
  #batches = 0;

  constructor(
    start: (side: Side) => Promise<RunningProgram>,
    { isShared, service }: { readonly isShared: boolean; readonly service: ScriptedService },
  ) {
    this.#start = start;
    this.#isShared = isShared;
    this.#service = service;
  }

  /** Goes through {@link STEPS}. @returns the violations. */
  async run(): Promise<readonly string[]> {
    await this.#bringUp('from');
    await this.#orderAll('from');
    let current: Side = 'from';
    for (const { next, signal } of STEPS) {
      if (this.#isShared) {
        await this.#bringUp(next);
        await Promise.all([this.#orderAll(current), this.#orderAll(next)]);
      }
      // Ordered at the moment of the stop: it is redelivered, as platforms do, until it is answered.
      if (next === 'from') await this.#orderOfNewer();
      const torn = this.#order('done', current).catch(() => undefined);
      await this.#program(current).end(signal);
      this.#programs.delete(current);
      if (!this.#isShared) await this.#bringUp(next);
      await torn;
      await this.#redeliver(next);
      await this.#orderAll(next);
      row([`${current} → ${next}`, signal, this.#isShared ? 'side by side' : 'in turn', this.#prompts.length]);
      current = next;
    }
    return this.#judge(this.#program(current));
  }

  /** Returns what the running programs printed. */
  output(): string {
    return [...this.#programs].map(([side, program]) => `${side}:\n${program.output()}\n`).join('');
  }

  async close(): Promise<void> {
    for (const program of this.#programs.values()) await program.end('SIGKILL');
  }

  async #bringUp(side: Side): Promise<void> {
    this.#programs.set(side, await this.#start(side));
  }

  #program(side: Side): RunningProgram {
    const program = this.#programs.get(side);
    if (program === undefined) throw new Error(`${side} is not running`);
    return program;
  }

  /** Orders one clip of each kind, and waits until the service has received them. */
  async #orderAll(side: Side): Promise<void> {
    const ordered = await Promise.all(NAMES.map((name) => this.#order(name, side)));
    const late = ordered[NAMES.indexOf('late')];
    await until(ANSWER_TIMEOUT_MS, async () => {
      if (ordered.some(({ prompt }) => !this.#service.postsOf.has(prompt))) return undefined;
      const shown = (await this.#program(side).messages()).find(({ id }) => id === late?.message);
      return shown?.state === 'polling' ? true : undefined;
    });
    if (late !== undefined) await this.#program(side).press(late.message, 'cancel');
  }

  async #order(name: OrderName, side: Side): Promise<{ readonly prompt: string; readonly message: string }> {
    this.#batches += 1;
    const prompt = `${name} ${this.#batches}`;
    this.#prompts.push(prompt);
    return { prompt, message: await this.#program(side).interact(`/video create ${prompt}`, prompt) };
  }

  /** Orders a set and deletes a clip, which the older revision has to leave alone after the rollback. */
  async #orderOfNewer(): Promise<void> {
    const program = this.#program('to');
    this.#batches += 1;
    const [set, deleted] = [`open set ${this.#batches}`, `deleted ${this.#batches}`];
    await program.interact(`/video create ${set} --takes ${TAKES}`, set);
    const message = await program.interact(`/video create ${deleted}`, deleted);
    const task = await until(ANSWER_TIMEOUT_MS, async () => {
      const shown = (await program.messages()).find(({ id }) => id === message);
      const isPosted = this.#service.postsOf.get(set) === TAKES && shown?.state === 'completed';
      return isPosted ? (shown.task ?? undefined) : undefined;
    });
    // Its outcome is in the chat a moment before that is recorded.
    const question = await until(ANSWER_TIMEOUT_MS, async () => {
      const id = `ask ${deleted} ${performance.now()}`;
      const asked = await program.interact(`/video delete ${task}`, id).catch(() => '');
      const shown = (await program.messages()).find(({ id }) => id === asked);
      return shown?.buttons.some(({ id }) => id.startsWith('delete:')) === true ? asked : undefined;
    });
    await program.press(question, 'delete');
    await until(ANSWER_TIMEOUT_MS, async () =>
      (await program.messages()).some(({ id, attachments }) => id === message && attachments.length === 0)
        ? true
        : undefined,
    );
    this.#sets.push(set);
    this.#deleted.push(deleted);
  }

  /** Delivers every order so far once more. An older revision may refuse the options of a set. */
  async #redeliver(side: Side): Promise<void> {
    const program = this.#program(side);
    for (const prompt of this.#deleted) await program.interact(`/video create ${prompt}`, prompt).catch(() => '');
    for (const prompt of this.#sets)
      await program.interact(`/video create ${prompt} --takes ${TAKES}`, prompt).catch(() => '');
    for (const prompt of this.#prompts) await this.#program(side).interact(`/video create ${prompt}`, prompt);
  }

  /** Lets every open task end, and returns what is wrong once nothing improves any more. */
  async #judge(program: RunningProgram): Promise<readonly string[]> {
    for (const name of ['open', 'fetching', 'late'] as const) this.#service.off.add(name);
    let violations: readonly string[] = [];
    const isSettled = async (): Promise<true | undefined> => {
      const messages = await program.messages();
      violations = [
        ...this.#prompts.flatMap((prompt) => this.#violationsOf(prompt, messages)),
        ...this.#violationsOfNewer(messages),
      ];
      return violations.length === 0 ? true : undefined;
    };
    await until(SETTLE_TIMEOUT_MS, isSettled).catch(() => undefined);
    // What was delivered must stay so: a repeated delivery would come within this time.
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    await isSettled();
    const posts = [...this.#service.postsOf.values()].reduce((sum, count) => sum + count, 0);
    const orders = this.#prompts.length + this.#deleted.length + TAKES * this.#sets.length;
    row(['orders', orders, 'POSTs', posts]);
    row(['sets', this.#sets.length, 'deleted', this.#deleted.length]);
    row(['completed', await this.#count(program, 'completed'), 'uncertain', await this.#count(program, 'uncertain')]);
    row(['failed', await this.#count(program, 'failed'), 'rejected', await this.#count(program, 'rejected')]);
    row(['cancelled', await this.#count(program, 'cancelled'), 'violations', violations.length]);
    return violations;
  }

  async #count(program: RunningProgram, state: string): Promise<number> {
    return (await program.messages()).filter((message) => message.state === state).length;
  }

  /** A set is bought once, and each of its clips is delivered, perhaps by the older revision too; a deleted one never. */
  #violationsOfNewer(messages: readonly PlaygroundMessage[]): readonly string[] {
    const of = (prompt: string, posts: number) => ({
      posts: (this.#service.postsOf.get(prompt) ?? 0) - posts,
      files: messages.filter(({ text }) => text.includes(prompt)).flatMap(({ attachments }) => attachments).length,
    });
    return [
      ...this.#sets.map((prompt) => ({ prompt, ...of(prompt, TAKES), isWrong: (files: number) => files < TAKES })),
      ...this.#deleted.map((prompt) => ({ prompt, ...of(prompt, 1), isWrong: (files: number) => files > 0 })),
    ].flatMap(({ prompt, posts, files, isWrong }) => [
      ...(posts === 0 ? [] : [`${prompt}: ${posts} POSTs too many`]),
      ...(isWrong(files) ? [`${prompt}: ${files} files`] : []),
    ]);
  }

  #violationsOf(prompt: string, messages: readonly PlaygroundMessage[]): readonly string[] {
    const name = prompt.split(' ')[0] as OrderName;
    const shown = messages.filter(({ text, task }) => task !== null && text.startsWith(`${prompt} ·`));
    const files = shown.flatMap(({ attachments }) => attachments).length;
    const posts = this.#service.postsOf.get(prompt) ?? 0;
    const hasFile = ORDERS[name] === 'completed' && name !== 'unfetchable';
    const wrong: string[] = [];
    if (posts !== 1) wrong.push(`${posts} POSTs`);
    if (shown.length !== 1) wrong.push(`${shown.length} messages`);
    if (shown[0]?.state !== ORDERS[name]) wrong.push(`shown as ${shown[0]?.state} instead of ${ORDERS[name]}`);
    if (files !== (hasFile ? 1 : 0)) wrong.push(`${files} files`);
    return wrong.map((what) => `${prompt}: ${what}`);
  }
}

function row(cells: readonly (string | number)[]): void {
  process.stdout.write(`| ${cells.map((cell) => String(cell).padEnd(14)).join(' | ')} |\n`);
}

async function runOn(store: 'redis' | 'sqlite', checkouts: Readonly<Record<Side, string>>): Promise<number> {
  const dir = await mkdtemp(join(tmpdir(), 'dailies-rolling-'));
  const redis = store === 'redis' ? await RedisServer.start() : null;
  const service = await startScriptedService();
  const env = {
    STORE_URL: redis?.url ?? 'sqlite:data/dailies.db',
    VIDEO_API_BASE_URL: service.baseUrl,
    VIDEO_API_TOKEN: service.token,
    CREATE_TIMEOUT_MS: '5000',
    MAX_CONCURRENT_CREATES: '16',
  };
  const run = new Run((side) => startProgram({ root: checkouts[side], dir, env }), {
    isShared: store === 'redis',
    service,
  });
  try {
    row(['step', 'stopped by', store, 'orders so far']);
    const violations = await run.run();
    for (const violation of violations) process.stdout.write(`VIOLATION: ${violation}\n`);
    return violations.length;
  } catch (thrown) {
    process.stdout.write(run.output());
    throw thrown;
  } finally {
    await run.close();
    await service.close();
    await redis?.remove();
    await rm(dir, { recursive: true, force: true });
  }
}

const { revisions, stores } = readOptions();
const folder = await mkdtemp(join(tmpdir(), 'dailies-revisions-'));
const checkouts = {
  from: checkOut(revisions.from, join(folder, 'from')),
  to: checkOut(revisions.to, join(folder, 'to')),
};
let violations = 0;
try {
  process.stdout.write(`from ${revisions.from} to ${revisions.to}\n`);
  for (const store of stores) violations += await runOn(store, checkouts);
} finally {
  for (const checkout of Object.values(checkouts)) removeCheckout(checkout);
  await rm(folder, { recursive: true, force: true });
}
process.exitCode = violations === 0 ? 0 : 1;
