import { pino } from 'pino';
import { type Job, Jobs } from '#src/engine/jobs/jobs.ts';

/** Runs a periodic job once. @returns whether it ran, without a failure. */
export async function runJob(job: Job, { store, clock, logger = SILENT }: RunDeps): Promise<boolean> {
  const jobs = new Jobs({ store, clock, logger }, [job]);
  const isDone = await jobs.runNow(job.name);
  await jobs.stop();
  return isDone;
}

/** Starts periodic jobs as one replica. */
export function startJobs({ store, clock, logger = SILENT }: RunDeps, ...jobs: readonly Job[]): Jobs {
  const started = new Jobs({ store, clock, logger }, jobs);
  started.start();
  return started;
}

type JobsDeps = ConstructorParameters<typeof Jobs>[0];
type RunDeps = Omit<JobsDeps, 'logger'> & Partial<Pick<JobsDeps, 'logger'>>;

const SILENT = pino({ level: 'silent' });
