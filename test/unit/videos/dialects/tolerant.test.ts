import { describe, expect, it } from 'vitest';
import { decodeError, decodeTask, isModeration } from '#src/videos/dialects/tolerant.ts';

describe('decodeTask', () => {
  it.each([
    ['queued', 'queued'],
    ['pending', 'queued'],
    ['submitted', 'queued'],
    ['in_progress', 'in_progress'],
    ['IN_PROGRESS', 'in_progress'],
    ['in-progress', 'in_progress'],
    ['In Progress', 'in_progress'],
    ['processing', 'in_progress'],
    ['running', 'in_progress'],
    ['initializing', 'in_progress'],
    ['completed', 'completed'],
    ['succeeded', 'completed'],
    ['SUCCESS', 'completed'],
    ['done', 'completed'],
    ['failed', 'failed'],
    ['FAILURE', 'failed'],
    ['cancelled', 'failed'],
    ['expired', 'failed'],
    ['unknown', 'unknown'],
    ['dreaming', 'unknown'],
    ['constructor', 'unknown'],
    ['', 'unknown'],
  ])('reads the status %s as %s', (status, expected) => {
    expect(decodeTask({ id: 'a', status })?.status).toBe(expected);
  });

  it.each<[unknown, number | null]>([
    [42, 42],
    [42.9, 42],
    [0, 0],
    [150, 100],
    [-3, 0],
    ['50%', 50],
    ['50', 50],
    ['100 %', 100],
    ['soon', null],
    [null, null],
    [undefined, null],
    [Number.NaN, null],
    [{ percent: 4 }, null],
  ])('reads the progress %j as %j', (progress, expected) => {
    expect(decodeTask({ id: 'a', status: 'running', progress })?.progress).toBe(expected);
  });

  it.each(['completed_at', 'ended_at', 'finished_at', 'updated_at', 'end_time'])('ignores %s', (field) => {
    for (const moment of [1_790_000_000, 1_790_000_000_000, '2026-11-20T12:00:00Z', null]) {
      expect(decodeTask({ id: 'a', status: 'in_progress', [field]: moment })?.status).toBe('in_progress');
    }
  });

  it('unwraps an envelope', () => {
    const data = { task_id: 7, task_status: 'SUCCEEDED', progress: '100%' };
    const expected = { id: '7', status: 'completed', progress: 100, failure: null };
    expect(decodeTask({ code: 0, message: 'success', data })).toEqual(expected);
    expect(decodeTask({ id: 'request-1', code: 0, data })).toEqual(expected);
    // Here "success" is the status of the call, not of the task.
    expect(decodeTask({ status: 'success', data: { id: '7', status: 'running' } })?.status).toBe('in_progress');
  });

  it.each<[unknown, string | null, string]>([
    [{ data: [{ id: 'a', status: 'running' }] }, 'a', 'in_progress'],
    [{ code: 'success', data: { task: { task_id: 'a', state: 'done' } } }, 'a', 'completed'],
    [{ task: { taskId: 'a', status: 'queued' } }, 'a', 'queued'],
    [{ id: 'a', status: 200, state: 'completed' }, 'a', 'completed'],
    [{ id: 'a', status: { state: 'running', since: 4 } }, 'a', 'in_progress'],
    [{ id: 'a', status: { since: 4 } }, 'a', 'unknown'],
  ])('reads %j', (answer, id, status) => {
    expect(decodeTask(answer)).toMatchObject({ id, status });
  });

  it('does not mistake a task with data for an envelope', () => {
    expect(decodeTask({ id: 'a', status: 'running', data: { id: 'b', status: 'failed' } })).toMatchObject({
      id: 'a',
      status: 'in_progress',
    });
  });

  it.each([null, undefined, 'text', 4, [], {}, { error: 'no' }, { code: 0, data: null }])(
    'finds no task in %j',
    (answer) => {
      expect(decodeTask(answer)).toBeNull();
    },
  );

  it('keeps the other fields where one is unexpected', () => {
    expect(decodeTask({ id: 'a', status: 4, progress: [] })).toEqual({
      id: 'a',
      status: 'unknown',
      isUnreadable: true,
      progress: null,
      failure: null,
    });
  });

  it.each<[string, object, string | null]>([
    ['error as text', { error: 'The GPU melted.' }, 'The GPU melted.'],
    ['error.message', { error: { code: 'gpu', message: 'The GPU melted.' } }, 'The GPU melted.'],
    ['message', { message: 'The GPU melted.' }, 'The GPU melted.'],
    ['detail', { detail: 'The GPU melted.' }, 'The GPU melted.'],
    ['a list in detail', { detail: [{ loc: ['body'], msg: 'The GPU melted.' }] }, 'The GPU melted.'],
    ['msg', { msg: 'The GPU melted.' }, 'The GPU melted.'],
    ['fail_reason', { fail_reason: 'The GPU melted.' }, 'The GPU melted.'],
    ['metadata.url', { metadata: { url: 'The GPU melted.' } }, 'The GPU melted.'],
    ['a URL in metadata.url', { metadata: { url: 'https://cdn.example/a.mp4' } }, null],
    ['a code beside a sentence', { error: 'gpu_error', message: 'The GPU melted.' }, 'The GPU melted.'],
    ['only a code', { error: 'gpu_error' }, 'gpu_error'],
    ['nothing', { error: null, message: '' }, null],
  ])('finds the reason of a failure in %s', (_, fields, words) => {
    const failure = { code: 'generation_failed', words };
    expect(decodeTask({ id: 'a', status: 'failed', ...fields })?.failure).toEqual(failure);
    expect(
      decodeTask({ code: 200, message: 'success', data: { id: 'a', status: 'failed', ...fields } })?.failure,
    ).toEqual(failure);
  });

  it('uses the status as the reason where it is one', () => {
    expect(decodeTask({ id: 'a', status: 'expired' })?.failure?.words).toBe('expired');
    expect(decodeTask({ id: 'a', status: 'FAILED' })?.failure?.words).toBeNull();
  });

  it.each<[object]>([
    [{ error: { code: 'content_policy_violation', message: 'No.' } }],
    [{ error: { type: 'moderation_blocked' } }],
    [{ code: 'sensitive_words_detected', message: 'No.' }],
    [{ error: 'sensitive_words_detected' }],
    [{ fail_reason: 'Your prompt was rejected by our safety system.' }],
    [{ message: 'The prompt violates the content policy' }],
  ])('distinguishes moderation from other failures: %j', (fields) => {
    expect(decodeTask({ id: 'a', status: 'failed', ...fields })?.failure?.code).toBe('moderated');
  });
});

describe('decodeError', () => {
  it('reads the specified shape', () => {
    const error = { error: 'bad_request', code: 'invalid-Field', message: 'The prompt is too long.', success: false };
    expect(decodeError(error)).toEqual({
      codes: ['invalid_field', 'bad_request'],
      words: 'The prompt is too long.',
      success: false,
    });
    expect(isModeration(decodeError(error))).toBe(false);
  });

  it('finds nested messages up to a maximum depth', () => {
    expect(decodeError({ error: { message: [{ detail: 'No.' }] } }).words).toBe('No.');
    const endless = JSON.parse(`{"error":${'['.repeat(100_000)}"No."${']'.repeat(100_000)}}`) as unknown;
    expect(decodeError(endless).words).toBeNull();
  });

  it('finds nothing in a value that is not an object', () => {
    expect(decodeError('oops')).toEqual({ codes: [], words: null, success: undefined });
  });
});
