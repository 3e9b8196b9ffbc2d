import {
  hasReview,
  type Origin,
  type ReviewNote,
  type ReviewRules,
  type Task,
  type TaskId,
  versionOf,
} from '../../tasks/index.ts';

export interface EarlierNotes {
  /** Number of that version; `null`: it has none. */
  readonly version: number;
  readonly notes: readonly ReviewNote[];
}

/** What the message of a task shows about reviews besides its own record. */
export interface ReviewContext {
  readonly isReviewed: boolean;
  /** Absent: it repeats none, or one without notes. */
  readonly earlier?: EarlierNotes;
}

/** Notes that a message shows at most, the newest ones. */
const MAX_NOTES = 3;

/** Creates the reader of {@link ReviewContext}. */
export function createReviewContext({
  repository,
  reviewRules = async () => ({}),
}: {
  readonly repository: { get(id: TaskId): Promise<Task | undefined> };
  /** Reads the review rules of a team. Default: none are set. */
  readonly reviewRules?: (of: Pick<Origin, 'platform' | 'team'>) => Promise<ReviewRules>;
}): (task: Task) => Promise<ReviewContext> {
  return async ({ origin, retryOf, state }) => {
    // Progress edits of other tasks read nothing more.
    if (state !== 'completed' && retryOf === undefined) return { isReviewed: false };
    const isReviewed = hasReview(await reviewRules(origin), origin);
    if (!isReviewed || retryOf === undefined) return { isReviewed };
    const before = await repository.get(retryOf);
    // A retry elsewhere does not show the notes of a private channel.
    if (before === undefined || before.origin.channel !== origin.channel) return { isReviewed };
    const notes = (before.review ?? []).flatMap(({ note }) => note ?? []).slice(-MAX_NOTES);
    return notes.length === 0 ? { isReviewed } : { isReviewed, earlier: { version: versionOf(before), notes } };
  };
}
