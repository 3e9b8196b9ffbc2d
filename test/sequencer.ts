import { createHash } from 'node:crypto';
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Folders whose files start whole programs, or run one suite over every store and platform. */
const SLOW = /\/test\/(e2e|chaos|contract)\//;

/**
 * Starts the slow folders first, so that no core is idle while another one ends a long file. Within both groups the
 * order is that of the run's seed, as is that of the tests within a file: what relies on what ran before it fails
 * sooner or later. The seed is printed, and `--sequence.seed` repeats it.
 */
export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root, sequence } = this.ctx.config;
    const drawn = (path: string) => createHash('sha256').update(`${sequence.seed} ${path}`).digest().readUInt32BE();
    const place = ({ moduleId }: TestSpecification) =>
      Number(!SLOW.test(moduleId)) + drawn(relative(root, moduleId)) / 2 ** 32;
    const placed = files.map((file) => ({ file, at: place(file) })).sort((a, b) => a.at - b.at);
    return placed.map(({ file }) => file);
  }
}
