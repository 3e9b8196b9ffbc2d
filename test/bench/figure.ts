/** One line of the benchmark's table. */
export interface Figure {
  readonly what: string;
  /** With its unit. */
  readonly measured: string;
  /** With its unit; empty where the line is there for comparison. */
  readonly target: string;
  /** `null` where there is no target. */
  readonly isMet: boolean | null;
  /** Next to what it was measured, or why it falls short. */
  readonly remark: string;
}

/** Hands the figures of one benchmark to the process that prints them. */
export function report(figures: readonly Figure[]): void {
  process.send?.(figures);
  process.disconnect?.();
}
