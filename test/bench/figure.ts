/** Row of the benchmark's table. */
export interface Figure {
  readonly what: string;
  /** Measured value with its unit. */
  readonly measured: string;
  /** Target with its unit; empty for a row that only serves as a comparison. */
  readonly target: string;
  /** `null` without a target. */
  readonly isMet: boolean | null;
  /** Conditions of the measurement, or the reason for a shortfall. */
  readonly remark: string;
}

/** Sends the figures of one benchmark to the process that prints them. */
export function report(figures: readonly Figure[]): void {
  process.send?.(figures);
  process.disconnect?.();
}
