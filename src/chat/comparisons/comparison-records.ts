import { createHmac, randomBytes } from 'node:crypto';
import type { Keyv } from 'keyv';
import type { Clock } from '../../clock.ts';
import { changeRecord, type RecordEdit, type RecordWrite, type Store, type Versioned } from '../../engine/index.ts';
import { Serial } from '../../serial.ts';
import type { Origin, SetPlace, TaskId } from '../../tasks/index.ts';

/** Time after which a comparison is revealed without a press, in milliseconds. */
export const REVEAL_AFTER_MS = 24 * 3_600_000;

/** Longest time for which a clip waits for each one with an earlier label to be posted, in milliseconds. */
export const IN_ORDER_MS = 30_000;

/** Stored state of a comparison whose clips are in the chat. */
export interface ComparisonRecord extends Versioned {
  readonly platform: string;
  readonly team: string;
  readonly of: number;
  /** Time at which the clips appeared, from which it can be voted on. */
  readonly shownAtMs: number;
  /** Number of the clip that each person votes for, by the platform's user id; empty after the reveal. */
  readonly votes: Readonly<Record<string, number>>;
  /** Absent: it is blind. `tally`: number of votes for each clip, in their order. */
  readonly revealed?: { readonly atMs: number; readonly tally: readonly number[] };
}

/** Comparisons that a model of a team was in, and those that it won; a tie has no winner. */
export interface ModelRecord {
  readonly won: number;
  readonly of: number;
}

interface WinsRecord extends Versioned {
  readonly models: Readonly<Record<string, ModelRecord>>;
}

/** Outcome of a vote; `revealed`: it is too late, `not_shown`: the clips are not in the chat yet. */
export type VoteOutcome = 'counted' | 'changed' | 'same' | 'revealed' | 'not_shown';

type Team = Pick<Origin, 'platform' | 'team'>;

/** Index of the comparisons that are not revealed completely; scores are the times from which to reveal them. */
export const OPEN_COMPARISONS = 'comparisons';

const NAMESPACE = 'comparisons';
const SECRET_KEY = 'secret';
const SECRET_BYTES = 32;

/** Votes, reveals and wins, in the store. Every method rejects with `store_unavailable`. */
export class ComparisonRecords {
  readonly #store: Pick<Store, 'keyv' | 'commit'>;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #records: Keyv;
  /** Changes of each comparison by this process: they follow one another, so that few meet another change. */
  readonly #changing = new Serial<TaskId>();
  #secret: Promise<string> | null = null;

  constructor(store: Pick<Store, 'keyv' | 'commit'>, clock: Pick<Clock, 'now'>) {
    this.#store = store;
    this.#clock = clock;
    this.#records = store.keyv(NAMESPACE);
  }

  get(set: TaskId): Promise<ComparisonRecord | undefined> {
    return this.#records.get<ComparisonRecord>(set);
  }

  /**
   * Returns the clips of a comparison in the order of their labels. It follows from the set's id and a secret of the store:
   * it is the same on every replica, and cannot be computed from the id alone.
   */
  async inBlindOrder<Item>(
    set: TaskId,
    items: readonly Item[],
    nameOf: (item: Item) => string,
  ): Promise<readonly Item[]> {
    const secret = await this.#secretOf();
    const rank = (item: Item): string =>
      createHmac('sha256', secret)
        .update(`${set}:${nameOf(item)}`)
        .digest('hex');
    return items
      .map((item) => [rank(item), item] as const)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([, item]) => item);
  }

  /** Records that the clips of a comparison may appear now; from then on it can be voted on. @returns the record */
  show({ id, of }: SetPlace, { platform, team }: Team): Promise<ComparisonRecord> {
    return this.#change(id, (before) => {
      if (before !== undefined) return { result: before };
      const shownAtMs = this.#clock.now();
      const value = { platform, team, of, shownAtMs, votes: {} };
      const index = [{ index: OPEN_COMPARISONS, member: id, score: shownAtMs + REVEAL_AFTER_MS }];
      return { value, index, result: { ...value, revision: 1 } };
    });
  }

  /** Counts a person's vote for a clip by its number; a later one replaces it, until the reveal. */
  vote(set: TaskId, person: string, at: number): Promise<VoteOutcome> {
    return this.#change<VoteOutcome>(set, (before) => {
      if (before === undefined) return { result: 'not_shown' };
      if (before.revealed !== undefined) return { result: 'revealed' };
      const earlier = Object.hasOwn(before.votes, person) ? before.votes[person] : undefined;
      if (earlier === at) return { result: 'same' };
      const votes = { ...before.votes, [person]: at };
      return { value: { ...before, votes }, result: earlier === undefined ? 'counted' : 'changed' };
    });
  }

  /**
   * Ends the vote, once: keeps the number of votes for each clip, and deletes who voted. Counts the comparison for the
   * models if at least two clips were made and there is a vote.
   * @param models name of the model of each clip, by its number; without those that have no clip
   * @returns the record; undefined before the clips are shown
   */
  async reveal(set: TaskId, models: ReadonlyMap<number, string>): Promise<ComparisonRecord | undefined> {
    for (;;) {
      const found = await this.get(set);
      if (found === undefined || found.revealed !== undefined) return found;
      const winsKey = winsKeyOf(found);
      const wins = await this.#records.get<WinsRecord>(winsKey);
      const tally = tallyOf(found);
      const atMs = this.#clock.now();
      const after = { ...found, votes: {}, revealed: { atMs, tally }, revision: found.revision + 1 };
      const counted = countedIn(wins, models, tally);
      const write = (key: string, value: Versioned, before: Versioned | undefined): RecordWrite => ({
        namespace: NAMESPACE,
        key,
        value,
        expected: before?.revision ?? 'absent',
      });
      const records = [write(set, after, found), ...(counted === null ? [] : [write(winsKey, counted, wins)])];
      // It stays in the index until every task is revealed: a sweep completes what a killed process left.
      const isDone = await this.#store.commit({
        records,
        index: [{ index: OPEN_COMPARISONS, member: set, score: atMs }],
      });
      if (isDone) return after;
    }
  }

  /** Takes a comparison out of the index, once nothing of its reveal is left to do. */
  async ended(set: TaskId): Promise<void> {
    await this.#store.commit({ records: [], index: [{ index: OPEN_COMPARISONS, member: set, score: null }] });
  }

  /** Returns what each model of a team has won, by its name. */
  async winsOf(team: Team): Promise<Readonly<Record<string, ModelRecord>>> {
    return (await this.#records.get<WinsRecord>(winsKeyOf(team)))?.models ?? {};
  }

  /** Returns the write that deletes a comparison whose content was removed. */
  deletion(set: TaskId): RecordWrite {
    return { namespace: NAMESPACE, key: set, value: null, expected: 'any' };
  }

  #change<Result>(
    set: TaskId,
    edit: (before: ComparisonRecord | undefined) => RecordEdit<ComparisonRecord, Result>,
  ): Promise<Result> {
    return this.#changing.run(set, () => changeRecord(this.#store, { namespace: NAMESPACE, key: set }, edit));
  }

  #secretOf(): Promise<string> {
    this.#secret ??= this.#readSecret().catch((thrown: unknown) => {
      this.#secret = null;
      throw thrown;
    });
    return this.#secret;
  }

  /** Returns the secret of the store, which the first replica that needs it creates. */
  async #readSecret(): Promise<string> {
    for (;;) {
      const found = await this.#records.get<{ readonly secret: string }>(SECRET_KEY);
      if (found !== undefined) return found.secret;
      const value = { revision: 1, secret: randomBytes(SECRET_BYTES).toString('hex') };
      await this.#store.commit({ records: [{ namespace: NAMESPACE, key: SECRET_KEY, value, expected: 'absent' }] });
    }
  }
}

/** Returns the comparison without the vote of a person; the same value where there is none. For their erasure. */
export function withoutVote<Value extends object>(value: Value, person: string): Value {
  const { votes } = value as Partial<ComparisonRecord>;
  if (votes === undefined || !Object.hasOwn(votes, person)) return value;
  const { [person]: _removed, ...others } = votes;
  return { ...value, votes: others };
}

/** Returns the number of the clip with the most votes; `null` for none, or several. */
export function winnerOf(tally: readonly number[], clips: ReadonlySet<number>): number | null {
  const counted = tally.map((votes, index) => ({ votes, at: index + 1 })).filter(({ at }) => clips.has(at));
  const most = Math.max(0, ...counted.map(({ votes }) => votes));
  const [winner, another] = counted.filter(({ votes }) => votes === most);
  return most === 0 || winner === undefined || another !== undefined ? null : winner.at;
}

function tallyOf({ of, votes }: ComparisonRecord): readonly number[] {
  const given = Object.values(votes);
  return Array.from({ length: of }, (_, index) => given.filter((at) => at === index + 1).length);
}

function countedIn(
  before: WinsRecord | undefined,
  models: ReadonlyMap<number, string>,
  tally: readonly number[],
): WinsRecord | null {
  const isVotedOn = [...models.keys()].some((at) => (tally[at - 1] ?? 0) > 0);
  if (models.size < 2 || !isVotedOn) return null;
  const winner = winnerOf(tally, new Set(models.keys()));
  const counted = [...models].map(([at, name]) => {
    const { won, of } = before?.models[name] ?? { won: 0, of: 0 };
    return [name, { won: won + (at === winner ? 1 : 0), of: of + 1 }] as const;
  });
  return { revision: (before?.revision ?? 0) + 1, models: { ...before?.models, ...Object.fromEntries(counted) } };
}

function winsKeyOf({ platform, team }: Team): string {
  return `wins:${platform}:${team}`;
}
