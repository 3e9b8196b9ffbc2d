import { createHmac, randomBytes } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { collection, type RecordEdit, type RecordWrite, type Store, type Versioned } from '../../engine/index.ts';
import { Serial } from '../../serial.ts';
import { labelAt, type Origin, type SetPlace, type TaskId } from '../../tasks/index.ts';
import { keyOfTeam, type TeamKey } from '../../teams/index.ts';

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

const comparisonRecords = collection<TaskId, ComparisonRecord>({
  name: 'comparisons',
  holds: 'who votes for which clip of a comparison, until its reveal; then numbers of votes alone',
  kept: 'votes 24 hours; numbers until the clips’ content is removed',
  personal: {
    withdraw: (record, of) => {
      if (keyOfTeam(record) !== keyOfTeam(of)) return record;
      const { [of.person.id]: _theirs, ...votes } = record.votes;
      return { ...record, votes };
    },
    export: ({ votes, ...record }, of, set) => {
      const id = of.person.id;
      const at = keyOfTeam(record) === keyOfTeam(of) && Object.hasOwn(votes, id) ? votes[id] : undefined;
      return at === undefined ? [] : [{ record: 'vote', comparison: set, label: labelAt(at) }];
    },
  },
});

const comparisonWins = collection<TeamKey, WinsRecord>({
  name: 'comparison_wins',
  key: keyOfTeam,
  holds: 'how often each model of a team won',
  personal: 'nobody',
});

const comparisonSecrets = collection<'blind order', { readonly revision: number; readonly secret: string }>({
  name: 'comparison_secrets',
  holds: 'the secret from which the order of blind clips follows',
  personal: 'nobody',
});

/** Index of the comparisons that are not revealed completely; scores are the times from which to reveal them. */
export const OPEN_COMPARISONS = 'comparisons';
const SECRET_BYTES = 32;

/** Votes, reveals and wins, in the store. Every method rejects with `store_unavailable`. */
export class ComparisonRecords {
  readonly #store: Pick<Store, 'keyv' | 'commit'>;
  readonly #clock: Pick<Clock, 'now'>;
  /** Changes of each comparison by this process: they follow one another, so that few meet another change. */
  readonly #changing = new Serial<TaskId>();
  #secret: Promise<string> | null = null;

  constructor(store: Pick<Store, 'keyv' | 'commit'>, clock: Pick<Clock, 'now'>) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Returns a comparison; `undefined` until its clips appear. */
  get(set: TaskId): Promise<ComparisonRecord | undefined> {
    return comparisonRecords.get(this.#store, set);
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
  reveal(set: TaskId, models: ReadonlyMap<number, string>): Promise<ComparisonRecord | undefined> {
    return comparisonRecords.change<ComparisonRecord | undefined>(this.#store, set, async (found) => {
      if (found === undefined || found.revealed !== undefined) return { result: found };
      const wins = await comparisonWins.get(this.#store, found);
      const tally = tallyOf(found);
      const atMs = this.#clock.now();
      const value = { ...found, votes: {}, revealed: { atMs, tally } };
      const counted = countedIn(wins, models, tally);
      const records = counted === null ? [] : [comparisonWins.replacing(found, wins, counted)];
      // It stays in the index until every task is revealed: a sweep completes what a killed process left.
      const index = [{ index: OPEN_COMPARISONS, member: set, score: atMs }];
      return { value, index, records, result: { ...value, revision: found.revision + 1 } };
    });
  }

  /** Takes a comparison out of the index, once nothing of its reveal is left to do. */
  async ended(set: TaskId): Promise<void> {
    await this.#store.commit({ records: [], index: [{ index: OPEN_COMPARISONS, member: set, score: null }] });
  }

  /** Returns what each model of a team has won, by its name. */
  async winsOf(team: Team): Promise<Readonly<Record<string, ModelRecord>>> {
    return (await comparisonWins.get(this.#store, team))?.models ?? {};
  }

  /** Returns the write that deletes a comparison whose content was removed. */
  deletion(set: TaskId): RecordWrite {
    return comparisonRecords.overwriting(set, null);
  }

  #change<Result>(
    set: TaskId,
    edit: (before: ComparisonRecord | undefined) => RecordEdit<ComparisonRecord, Result>,
  ): Promise<Result> {
    return this.#changing.run(set, () => comparisonRecords.change(this.#store, set, edit));
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
    return comparisonSecrets.change<string>(this.#store, 'blind order', (found) => {
      if (found !== undefined) return { result: found.secret };
      const secret = randomBytes(SECRET_BYTES).toString('hex');
      return { value: { secret }, result: secret };
    });
  }
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
): Omit<WinsRecord, 'revision'> | null {
  const isVotedOn = [...models.keys()].some((at) => (tally[at - 1] ?? 0) > 0);
  if (models.size < 2 || !isVotedOn) return null;
  const winner = winnerOf(tally, new Set(models.keys()));
  const counted = [...models].map(([at, name]) => {
    const { won, of } = before?.models[name] ?? { won: 0, of: 0 };
    return [name, { won: won + (at === winner ? 1 : 0), of: of + 1 }] as const;
  });
  return { models: { ...before?.models, ...Object.fromEntries(counted) } };
}
