import type { ChatParts } from '../../chat/index.ts';
import { asDailiesError, DailiesError } from '../../errors.ts';
import { type Joiner, type JoinInput, ShotError, ShotsDifferError } from '../../media/index.ts';
import type { Cut, CutFailure } from '../../orders/index.ts';
import type { ClipStorage } from '../../storage/index.ts';
import type { Clip } from '../../videos/index.ts';

/** Options of {@link CutMaker}. */
export interface CutMakerOptions extends Pick<ChatParts, 'repository' | 'clips' | 'logger'> {
  readonly joiner: Pick<Joiner, 'join'>;
  readonly storage: Pick<ClipStorage, 'keep' | 'find' | 'list' | 'remove' | 'pathOf'>;
  /** Asserts that a file can be stored. @throws `data_full`, `disk_full` */
  readonly assertRoom: () => Promise<void>;
}

type Made =
  | { readonly kind: 'made'; readonly clip: Clip; readonly seconds: number }
  | { readonly kind: 'failed'; readonly failure: CutFailure };

/** A clip that cannot be brought here any more. */
const GONE: ReadonlySet<string> = new Set(['gone', 'task_unknown', 'not_a_video']);

export class CutMaker {
  readonly #options: CutMakerOptions;

  constructor(options: CutMakerOptions) {
    this.#options = options;
  }

  /** Returns the file of a cut, on this machine or from the bucket; `null` where it has to be made. */
  async find({ id, file }: Cut): Promise<Clip | null> {
    if (file === undefined) return null;
    const { storage } = this.#options;
    return storage.find(id, { path: storage.pathOf(id), bytes: file.bytes, contentType: 'video/mp4' });
  }

  /**
   * Makes the file of a cut. @throws the reason of `signal`; DailiesError for what may pass by itself, such as
   * `storage_unavailable`, `overloaded`, or a defect
   */
  async make(cut: Cut, signal: AbortSignal): Promise<Made> {
    const { joiner, storage, assertRoom, logger } = this.#options;
    const inputs = await this.#inputsOf(cut);
    if ('failure' in inputs) return { kind: 'failed', failure: inputs.failure };
    try {
      await assertRoom();
      const { seconds, ...clip } = await joiner.join(inputs.found, signal);
      const kept = await storage.keep(cut.id, clip).catch((thrown: unknown) => {
        const event = 'cut_upload_failed';
        logger.warn({ event, cut: cut.id, err: thrown }, 'failed to upload a cut, keeping it on this machine');
        return clip;
      });
      return { kind: 'made', clip: kept, seconds };
    } catch (thrown) {
      signal.throwIfAborted();
      const failure = failureOf(thrown);
      if (failure === null) throw asDailiesError(thrown, `joining cut ${cut.id}`);
      // A clip that was deleted meanwhile cannot be read, either.
      const missing = await this.#inputsOf(cut);
      return { kind: 'failed', failure: 'failure' in missing ? missing.failure : failure };
    }
  }

  /** Deletes everything that was made of a cut, partial files included. */
  remove({ id }: Pick<Cut, 'id'>): Promise<void> {
    return this.#options.storage.remove(id);
  }

  /** Brings the clips here. @throws DailiesError for what may pass by itself */
  async #inputsOf({
    tasks,
  }: Cut): Promise<{ readonly found: readonly JoinInput[] } | { readonly failure: CutFailure }> {
    const found: JoinInput[] = [];
    const missing: number[] = [];
    // All of them are looked for before the first one is brought here.
    const shots = await Promise.all(tasks.map((id) => this.#options.repository.get(id)));
    for (const [at, shot] of shots.entries()) if (shot?.clip === undefined) missing.push(at + 1);
    if (missing.length > 0) return { failure: { code: 'clip_missing', shots: missing } };
    for (const [at, shot] of shots.entries()) {
      const clip = shot === undefined ? undefined : await this.#options.clips.find(shot).catch(unlessGone);
      if (shot === undefined || clip === undefined) missing.push(at + 1);
      else found.push({ id: shot.id, path: clip.path });
    }
    return missing.length > 0 ? { failure: { code: 'clip_missing', shots: missing } } : { found };
  }
}

function unlessGone(thrown: unknown): undefined {
  if (!(thrown instanceof DailiesError) || !GONE.has(thrown.code)) throw thrown;
}

/** Returns why clips cannot be joined; `null` for what may pass by itself, and for defects. */
function failureOf(thrown: unknown): CutFailure | null {
  if (thrown instanceof ShotsDifferError) return { code: 'shots_differ', differences: thrown.differences };
  if (thrown instanceof ShotError && thrown.failure !== 'not_converted')
    return { code: thrown.failure, shot: thrown.shot };
  if (!(thrown instanceof DailiesError)) return null;
  if (thrown.code === 'timed_out') return { code: thrown.code };
  return thrown.code === 'disk_full' || thrown.code === 'data_full' ? { code: 'disk_full' } : null;
}
