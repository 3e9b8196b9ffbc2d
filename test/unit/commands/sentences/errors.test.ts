import { describe, expect, it } from 'vitest';
import { failureLine, unfetchedLine } from '#commands/sentences/errors.ts';
import { sentenceOf } from '#commands/sentences.ts';
import { DailiesError, type ErrorCode } from '#src/errors.ts';

/** A word that tells each code's sentence from the others. */
const TELLING: Readonly<Record<ErrorCode, string>> = {
  bad_request: 'did not accept',
  unauthorised: 'does not accept me',
  no_balance: 'balance',
  forbidden: 'does not allow',
  unknown_model: '/video models',
  moderated: 'content rules',
  rate_limited: 'chat takes no more calls',
  unavailable: 'cannot be reached',
  timed_out: 'took too long',
  lost_answer: 'may have taken',
  bad_answer: 'makes no sense',
  task_unknown: 'does not know this task',
  generation_failed: 'could not make',
  not_ready: 'yet',
  gone: 'deleted',
  not_a_video: 'no video',
  refused_address: 'private network',
  store_unavailable: 'my memory',
  store_locked: 'Another program',
  message_gone: 'message',
  missing_permission: 'right',
  too_large: 'too large',
  platform_unavailable: 'chat cannot be reached',
  overloaded: 'at this moment',
  disk_full: 'disk is full',
  internal: 'my side',
};
const CODES = Object.keys(TELLING) as ErrorCode[];

describe('what people read of a clip that could not be fetched', () => {
  it.each(['unauthorised', 'unavailable', 'timed_out', 'rate_limited', 'not_ready', 'disk_full'] as const)(
    'leads to another fetch, not to a second order: %s',
    (code) => {
      const [sentence] = unfetchedLine({ code, words: null });
      expect(sentence).toMatch(/fetch it again/i);
      expect(sentence).not.toMatch(/(send it|try) again/i);
    },
  );
});

describe('what people read of an error', () => {
  it.each(CODES)('%s', (code) => {
    const sentence = sentenceOf(new DailiesError('HTTP 500 at 10.0.0.1', { code, retryable: false }));
    expect(sentence).toContain(TELLING[code]);
    expect(sentence).toMatch(/^[A-Z].*\.$/);
    expect(sentence).not.toMatch(/!|HTTP|10\.0/);
  });

  it('does not rule out what was begun where the store kept silent: trying again would buy a second clip', () => {
    const sentence = sentenceOf(new DailiesError('', { code: 'store_unavailable', retryable: true }));
    expect(sentence).not.toMatch(/did not begin|was made/);
    expect(sentence).toMatch(/most likely.*shows up here/);
  });

  it('is the chat’s where the chat said it, and the video service’s on the card of a task', () => {
    const failures = [
      ['unauthorised', 'VIDEO_API_TOKEN'],
      ['rate_limited', 'The video service takes no more requests'],
    ] as const;
    for (const [code, word] of failures) {
      expect(sentenceOf(new DailiesError('', { code, retryable: true }))).not.toMatch(/video service|VIDEO_API/);
      expect(failureLine({ code, words: null })[0]).toContain(word);
    }
  });

  it('is another sentence for each', () => {
    const sentences = CODES.map((code) => sentenceOf(new DailiesError('', { code, retryable: false })));
    expect(new Set(sentences).size).toBe(CODES.length);
  });

  it('has the service’s words where they help, and not where they do not', () => {
    const words = 'seed must be odd';
    expect(sentenceOf(new DailiesError('', { code: 'bad_request', retryable: false, words }))).toMatch(
      / Its words: seed must be odd$/,
    );
    expect(sentenceOf(new DailiesError('', { code: 'unauthorised', retryable: false, words }))).not.toContain(words);
    expect(sentenceOf(new DailiesError('', { code: 'bad_request', retryable: false, words: ' ' }))).not.toContain(
      'words',
    );
  });

  it('says how long to wait where the service said it', () => {
    const error = new DailiesError('', { code: 'rate_limited', retryable: true, retryAfterMs: 30_000 });
    expect(sentenceOf(error)).toMatch(/It asked for 30 s of patience\.$/);
  });
});
