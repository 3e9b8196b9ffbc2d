import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FakeVideoService, startVideoService } from '../fakes/video-service.ts';
import { makeDir, type RunningDailies, startDailies } from './dailies.ts';

let upstream: FakeVideoService;
let dir: Awaited<ReturnType<typeof makeDir>>;
let dailies: RunningDailies;

beforeAll(async () => {
  upstream = await startVideoService();
  dir = await makeDir();
  dailies = await startDailies({ dir: dir.path, upstream });
});

afterAll(async () => {
  await dailies.kill();
  await upstream.close();
  await dir.remove();
});

describe('refused requests create nothing', () => {
  test.each([
    ['--seconds 30', ['seconds', '30', '4, 6 or 8']],
    ['--seconds six', ['seconds', 'six']],
    ['--model nope', ['model', 'nope', 'swift-1']],
    ['--aspect 2:1', ['aspect', '2:1', '16:9']],
    ['--resolution 8k', ['resolution', '8k', '720p']],
    ['--image ftp://example.com/a.png', ['image', 'ftp://example.com/a.png', 'http']],
    ['--image http://a.example/1 --image http://a.example/2 --image http://a.example/3', ['image', '3', '2']],
    ['--audio http://a.example/1', ['audio', 'Swift 1']],
    ['--colour red', ['colour', '--seconds']],
    ['--seconds', ['seconds']],
    ['--seconds 4 --seconds 6', ['seconds']],
  ])('create a fox %s', async (flags, words) => {
    const { status, body } = await dailies.interact(`/video create a fox ${flags}`);
    expect(status).toBe(400);
    for (const word of words) expect(body.error).toContain(word);
    expect(upstream.posts).toBe(0);
    expect((await dailies.messages()).filter(({ task }) => task !== null)).toEqual([]);
  });

  test.each([
    '/video create',
    '/video budget',
    '/video cancel',
    '/video cancel nothing',
    '/video retry nothing',
    '/video status nothing',
    '/video usage --month soon',
    '/video cancel a b c',
    '/video list --page',
  ])('%s', async (text) => {
    const { status, body } = await dailies.interact(text);
    expect({ status, isSentence: /^\S.{8,}/.test(body.error ?? '') }).toEqual({ status: 400, isSentence: true });
    expect(upstream.posts).toBe(0);
  });

  test('a prompt that is too long for its model', async () => {
    const { status, body } = await dailies.interact(`/video create ${'x'.repeat(2_001)}`);
    expect(status).toBe(400);
    for (const word of ['prompt', '2001', '2000']) expect(body.error?.replaceAll(',', '')).toContain(word);
    expect(upstream.posts).toBe(0);
  });
});
