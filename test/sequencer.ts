import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Folders whose files start whole programs, or run one suite over every store and platform. */
const SLOW = /\/test\/(e2e|chaos|contract)\//;

/**
 * Starts the slow folders first, so that no core is idle while another one ends a long file. Within both groups the
 * order is vitest's: longest first, or largest first where there is no earlier run, as in CI. Size alone says little: a
 * contract suite is one line in its test file.
 */
export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const [slow, fast] = [true, false].map((isSlow) => sorted.filter(({ moduleId }) => SLOW.test(moduleId) === isSlow));
    return [...(slow ?? []), ...(fast ?? [])];
  }
}
