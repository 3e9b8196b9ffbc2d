import { expect, it } from 'vitest';
import { TOLD } from './fates.ts';
import { drawPlan, FAULT_KINDS, type Plan, type PlanOptions } from './plan.ts';
import { PROFILES } from './profiles.ts';
import { commandFor } from './sets.ts';

const OPTIONS = { store: 'redis', replicas: 2, interactions: 20, faults: FAULT_KINDS } as const;

function plans(changes: Partial<PlanOptions> = {}, runs = 60): readonly Plan[] {
  return Array.from({ length: runs }, (_, seed) => drawPlan({ ...OPTIONS, seed, ...changes }));
}

/** Orders to whose creates the service itself loses the answer, or does not say whether it took them. */
function lostIn({ orders }: Plan): number {
  return orders.filter(({ fate }) => fate.creates.some((create) => !TOLD.has(create))).length;
}

it('draws every profile and dialect, that of our own contract most often', () => {
  const drawn = plans();
  const counts = PROFILES.map((name) => drawn.filter(({ service }) => service.name === name).length);
  expect(Math.min(...counts)).toBeGreaterThan(4);
  expect(Math.max(...counts)).toBe(counts[0]);
  const dialects = new Set(drawn.map(({ service }) => service.dialect));
  expect(dialects).toEqual(new Set(['v1-videos', 'ark', 'fal', 'openrouter', 'xai']));
  expect(plans({ profile: 'price' }, 4).every(({ service }) => service.name === 'price')).toBe(true);
});

it('draws a service of our own contract where the service does not misbehave', () => {
  const faults = FAULT_KINDS.filter((kind) => kind !== 'service');
  expect(new Set(plans({ faults }).map(({ service }) => service.name))).toEqual(new Set(['none']));
});

it('draws lists that are late, have pages, or hold a stranger’s task, and mostly one lost create', () => {
  const drawn = plans({ profile: 'list' });
  const listings = drawn.flatMap(({ service }) => service.listing ?? []);
  expect(listings).toHaveLength(drawn.length);
  for (const isDrawn of [
    listings.some(({ lateMs }) => lateMs > 0),
    listings.some(({ lateMs }) => lateMs === 0),
    listings.some(({ old }) => old > 100),
    listings.some(({ faults }) => faults.includes('half')),
    ...['alike', 'unlike', 'vague'].map((kind) => listings.some(({ stranger }) => stranger === kind)),
  ])
    expect(isDrawn).toBe(true);
  const single = drawn.filter(({ service }) => service.listing?.isSingle === true);
  expect(single.length).toBeGreaterThan(drawn.length / 2);
  expect(new Set(single.map(lostIn))).toEqual(new Set([1]));
  expect(drawn.filter((plan) => !single.includes(plan)).some((plan) => lostIn(plan) > 1)).toBe(true);
});

it('draws what only some services do for each order on its own', () => {
  const fates = plans({ profile: 'price' }, 3).flatMap(({ orders }) => orders.map(({ fate }) => fate));
  expect(new Set(fates.map(({ cost }) => cost)).size).toBeGreaterThan(4);
  expect(new Set(fates.map(({ queued }) => queued)).size).toBeGreaterThan(4);
  expect(new Set(fates.map(({ cancels }) => cancels.join())).size).toBeGreaterThan(8);
});

it('chains storyboards where the request takes images and all replicas have the clips', () => {
  const drawn = plans({ profile: 'list' });
  const inline = drawn.filter(({ service }) => service.isInline);
  expect(inline.length).toBeGreaterThan(drawn.length / 3);
  expect(inline.every(({ sharesFolder }) => sharesFolder)).toBe(true);
  const chained = drawn.filter(({ orders }) => orders.some(({ isChained }) => isChained === true));
  expect(chained.length).toBeGreaterThan(inline.length / 2);
  expect(chained.every((plan) => inline.includes(plan))).toBe(true);
  const orders = chained.flatMap((plan) => plan.orders.filter(({ isChained }) => isChained === true));
  expect(new Set(orders.map((order) => commandFor(order).split('\n')[0]))).toEqual(
    new Set(['/video storyboard --chain']),
  );
  expect(plans({ profile: 'cancel' }, 20).some(({ service }) => service.isInline)).toBe(false);
});
