import { expect, it } from 'vitest';
import { DailiesError } from '#src/errors.ts';
import { StorageHealth } from '#src/storage/storage-health.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';

const failure = (retryable: boolean): DailiesError =>
  new DailiesError(retryable ? 'it is away' : 'there is no such bucket', { code: 'storage_unavailable', retryable });

function healthOf() {
  const clock = new ManualClock();
  const bucket = { failure: null as DailiesError | null, checks: 0 };
  const check = async (): Promise<void> => {
    bucket.checks += 1;
    if (bucket.failure !== null) throw bucket.failure;
  };
  const health = new StorageHealth({ check }, clock);
  const later = (): Promise<string | null> => {
    clock.advance(10_000);
    return health.problem();
  };
  return { bucket, health, later };
}

it('is not ready until the bucket has answered once', async () => {
  const { bucket, health, later } = healthOf();
  bucket.failure = failure(true);
  expect(await health.problem()).toBe('it is away');
  bucket.failure = null;
  expect(await later()).toBeNull();
});

it('stays ready while the bucket is away later, since clips are kept here', async () => {
  const { bucket, health, later } = healthOf();
  expect(await health.problem()).toBeNull();
  bucket.failure = failure(true);
  expect(await later()).toBeNull();
});

it('is not ready while a person has to correct something', async () => {
  const { bucket, health, later } = healthOf();
  expect(await health.problem()).toBeNull();
  bucket.failure = failure(false);
  expect(await later()).toBe('there is no such bucket');
});

it('asks once for all callers, and again after ten seconds', async () => {
  const { bucket, health, later } = healthOf();
  await Promise.all([health.problem(), health.problem()]);
  await health.problem();
  expect(bucket.checks).toBe(1);
  await later();
  expect(bucket.checks).toBe(2);
});
