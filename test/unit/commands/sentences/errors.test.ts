import { describe, expect, it } from 'vitest';
import { failureLine, sentenceOf, unfetchedLine } from '#commands/sentences/errors.ts';
import { DailiesError, type ErrorCode } from '#src/errors.ts';

/** Text that identifies the sentence of each code. */
const TELLING: Readonly<Record<ErrorCode, string>> = {
  bad_request: 'rejected',
  unauthorised: 'no longer accepts',
  no_balance: 'out of credit',
  forbidden: 'doesn’t allow',
  unknown_model: '/video models',
  moderated: 'content rules',
  rate_limited: 'chat is taking no more calls',
  unavailable: 'can’t be reached',
  timed_out: 'took too long',
  lost_answer: 'may have accepted',
  bad_answer: 'couldn’t understand',
  task_unknown: 'no longer knows this task',
  frame_gone: 'isn’t here any more',
  id_taken: 'already has that ID',
  id_attempts: 'Too many IDs',
  generation_failed: 'couldn’t make',
  cancelled: 'before it began',
  not_ready: 'yet',
  gone: 'deleted',
  not_a_video: 'isn’t a video',
  refused_address: 'don’t download from',
  store_unavailable: 'my database',
  storage_unavailable: 'keep clips',
  store_locked: 'Another program',
  record_damaged: 'damaged',
  message_gone: 'message',
  missing_permission: 'permission',
  too_large: 'too large',
  platform_unavailable: 'chat can’t be reached',
  shots_differ: 'takes ffmpeg',
  overloaded: 'too busy',
  disk_full: 'disk is full',
  data_full: 'not taking new orders',
  internal: 'my side',
};
const CODES = Object.keys(TELLING) as ErrorCode[];

describe('sentence of a clip that could not be fetched', () => {
  it.each(['unauthorised', 'unavailable', 'timed_out', 'rate_limited', 'not_ready', 'disk_full'] as const)(
    'suggests another fetch, not another order: %s',
    (code) => {
      const [sentence] = unfetchedLine({ code, words: null });
      expect(sentence).toMatch(/fetch it again/i);
      expect(sentence).not.toMatch(/(send it|try) again/i);
    },
  );
});

describe('sentence of a refused address', () => {
  it('gives the reason, or none for an older record without one', () => {
    const reasons = ['private_network', 'not_https', 'not_web', 'credentials', 'redirects', 'no_address'] as const;
    const sentences = reasons.map((words) => JSON.stringify(unfetchedLine({ code: 'refused_address', words })));
    expect(new Set(sentences).size).toBe(reasons.length);
    expect(sentences[0]).toContain('private network');
    for (const sentence of sentences.slice(1)) expect(sentence).not.toContain('private');
    const none = { code: 'refused_address', words: null } as const;
    expect(failureLine(none)).toEqual(unfetchedLine({ ...none, words: 'toString' }));
  });
});

describe('sentence of an error', () => {
  it.each(CODES)('%s', (code) => {
    const sentence = sentenceOf(new DailiesError('HTTP 500 at 10.0.0.1', { code, retryable: false }));
    expect(sentence).toContain(TELLING[code]);
    expect(sentence).toMatch(/^[A-Z].*\.$/);
    expect(sentence).not.toMatch(/!|HTTP|10\.0/);
  });

  it('does not rule out a started order if the store is unavailable, since a retry could buy a second clip', () => {
    const sentence = sentenceOf(new DailiesError('', { code: 'store_unavailable', retryable: true }));
    expect(sentence).not.toMatch(/did not begin|was made/);
    expect(sentence).toMatch(/most likely.*shows up here/);
  });

  it('names the chat for its errors, and the video service on the card of a task', () => {
    const failures = [
      ['unauthorised', 'VIDEO_API_TOKEN'],
      ['rate_limited', 'The video service is taking no more requests'],
    ] as const;
    for (const [code, word] of failures) {
      expect(sentenceOf(new DailiesError('', { code, retryable: true }))).not.toMatch(/video service|VIDEO_API/);
      expect(failureLine({ code, words: null })[0]).toContain(word);
    }
  });

  it('is unique for each code', () => {
    const sentences = CODES.map((code) => sentenceOf(new DailiesError('', { code, retryable: false })));
    expect(new Set(sentences).size).toBe(CODES.length);
  });

  it('includes the service’s error message only if it helps', () => {
    const words = 'seed must be odd';
    expect(sentenceOf(new DailiesError('', { code: 'bad_request', retryable: false, words }))).toMatch(
      / It said: “seed must be odd”$/,
    );
    expect(sentenceOf(new DailiesError('', { code: 'unauthorised', retryable: false, words }))).not.toContain(words);
    expect(sentenceOf(new DailiesError('', { code: 'bad_request', retryable: false, words: ' ' }))).not.toContain(
      'said',
    );
  });

  it('includes the service’s retry delay', () => {
    const error = new DailiesError('', { code: 'rate_limited', retryable: true, retryAfterMs: 30_000 });
    expect(sentenceOf(error)).toMatch(/Try again in 30 s\.$/);
  });
});
