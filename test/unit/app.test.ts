import { beforeEach, expect, it } from 'vitest';
import { App } from '#src/app.ts';
import type { Run } from '#src/lifecycle.ts';

let steps: string[];
let ending: AbortController;
let run: Run;

beforeEach(() => {
  steps = [];
  ending = new AbortController();
  run = { ending: ending.signal, failedLate: () => undefined };
});

/** Creates a part that notes its start and its stop in `steps`. */
const part = (name: string, start: () => object = () => ({})) => ({
  name,
  start: async () => {
    steps.push(`start ${name}`);
    return start();
  },
  stop: () => void steps.push(`stop ${name}`),
});
const connection = { name: 'connection', stop: () => void steps.push('close connection') };
const failing = () => {
  throw new Error('that port is taken');
};

it('starts its parts in order, and stops them in reverse before it closes the connections', async () => {
  const app = new App(
    [],
    [part('a', () => ({ address: 'http://here' })), part('b', () => ({ open: 3 }))],
    [connection],
  );
  expect(await app.start(run)).toEqual({ address: 'http://here', open: 3, undelivered: 0 });
  await app.stop();
  expect(steps).toEqual(['start a', 'start b', 'stop b', 'stop a', 'close connection']);
});

it('starts nothing after a part that fails, and stops that part and those before it', async () => {
  const app = new App([], [part('a'), part('b', failing), part('c')], [connection]);
  await expect(app.start(run)).rejects.toThrow('that port is taken');
  await app.stop();
  expect(steps).toEqual(['start a', 'start b', 'stop b', 'stop a', 'close connection']);
});

const abort = () => {
  ending.abort();
  return {};
};

it('starts nothing once the shutdown has begun', async () => {
  const app = new App([], [part('a', abort), part('b')], [connection]);
  await expect(app.start(run)).rejects.toThrow('aborted');
  await app.stop();
  expect(steps).toEqual(['start a', 'stop a', 'close connection']);
});

it('stops the other parts where one of them cannot stop', async () => {
  const app = new App([], [part('a'), { name: 'b', stop: failing }], [connection]);
  await app.start(run);
  await app.stop();
  expect(steps).toEqual(['start a', 'stop a', 'close connection']);
});
