/** Process that reads and joins clips, so that neither their size nor what is wrong with them reaches the bot. */

import { copyShots, type ShotFile } from './copy.ts';
import { differencesOf } from './differences.ts';
import { readShot } from './read-shot.ts';
import type { Shot, ShotDifference } from './shot.ts';

export interface CopyJob {
  readonly shots: readonly {
    readonly path: string;
    /** Seconds that the shot takes in the cut; by default those of its pictures. */
    readonly seconds?: number;
  }[];
  /** Path of the file to write. */
  readonly output: string;
  /** Text of its metadata. Default: none. */
  readonly comment?: string;
}

export type CopyOutcome =
  | { readonly kind: 'copied'; readonly seconds: number }
  /** Nothing was written. */
  | { readonly kind: 'differing'; readonly shots: readonly Shot[]; readonly differences: readonly ShotDifference[] }
  /** A shot is not a video; numbered from 1. */
  | { readonly kind: 'unreadable'; readonly shot: number; readonly reason: string }
  /** `code` is that of the file system, such as `ENOSPC`. */
  | { readonly kind: 'failed'; readonly reason: string; readonly code: string | null };

async function join({ shots, output, comment = '' }: CopyJob): Promise<CopyOutcome> {
  const files: ShotFile[] = [];
  for (const [at, { path, seconds }] of shots.entries()) {
    try {
      const shot = await readShot(path);
      files.push({ path, shot: seconds === undefined ? shot : { ...shot, seconds } });
    } catch (thrown) {
      return { kind: 'unreadable', shot: at + 1, reason: reasonOf(thrown) };
    }
  }
  const differences = differencesOf(files.map(({ shot }) => shot));
  if (differences.length > 0) return { kind: 'differing', shots: files.map(({ shot }) => shot), differences };
  try {
    await copyShots(files, output, comment);
    return { kind: 'copied', seconds: files.reduce((sum, { shot }) => sum + shot.seconds, 0) };
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : null;
    return { kind: 'failed', reason: reasonOf(thrown), code };
  }
}

function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

// The bot was killed: no process would rename the file.
process.once('disconnect', () => process.exit(1));
process.once('message', (job: CopyJob) => {
  void join(job).then((outcome) => process.send?.(outcome, () => process.exit(0)));
});
