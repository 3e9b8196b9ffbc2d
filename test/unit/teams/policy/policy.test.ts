import { describe, expect, it } from 'vitest';
import { allowedCatalog, changedPolicy, NO_POLICY, rulesAt, valueRules } from '#src/teams/policy/policy.ts';
import { checkRequest } from '#src/videos/check.ts';
import type { RequestDraft } from '#src/videos/request.ts';
import { forbiddenIn, type ValueRules } from '#src/videos/value-rules.ts';
import { CATALOG } from '../../videos/models.ts';

describe('forbidden words', () => {
  it.each([
    ['Blood', 'no BLOOD here', true],
    ['blood', 'bloody', false],
    ['blood', 'cold-blood.', true],
    ['blood', 'blood_red', true],
    ['blood', 'bl\u00ADo\u200Bod', true],
    ['cafe', 'au CAFÉ', true],
    ['café', 'the cafe\u0301s', false],
    ['café', 'the cafe\u0301', true],
    ['straße', 'STRASSE', true],
    ['istanbul', 'İSTANBUL', true],
    ['οδος', 'ΟΔΌΣ', true],
    ['ｇｏｒｅ', 'gore', true],
    ['the mayor', 'The\n  Mayor waves', true],
    ['血', '流血的狐狸', true],
    ['हिंदी', 'हिंद', false],
    ['हिंद', 'हिंदी', false],
    ['c++', 'write c++ now', true],
    ['🔫', 'a 🔫!', true],
    ['', 'anything', false],
  ])('%j in %j: %j', (word, text, isThere) => {
    expect(forbiddenIn(text, [word, 'absent'])).toEqual(isThere ? [word] : []);
  });

  it('are looked for in time that grows with the text, not with its square', () => {
    // Minutes, if each of the occurrences inside this word copied the text before it.
    expect(forbiddenIn('a'.repeat(300_000), ['a'])).toEqual([]);
    expect(forbiddenIn(`${'a'.repeat(300_000)} 𝕏 a`, ['a'])).toEqual(['a']);
  });
});

describe('the rules of a channel', () => {
  const policy = changedPolicy(changedPolicy(NO_POLICY, null, { clips: 2, models: ['swift-1'] }), 'ads', {
    models: 'any',
    words: ['gore'],
  });

  it('stand in place of the team’s, rule by rule, in its threads as well', () => {
    expect(rulesAt(policy, { channel: 'clips' })).toEqual({ clips: 2, models: ['swift-1'] });
    const inAds = { clips: 2, models: 'any', words: ['gore'] };
    expect(rulesAt(policy, { channel: 'ads' })).toEqual(inAds);
    expect(rulesAt(policy, { channel: 'thread', parentChannel: 'ads' })).toEqual(inAds);
    expect(valueRules(rulesAt(policy, { channel: 'ads' }))).toEqual({ clips: 2, words: ['gore'] });
    expect(rulesAt(policy, { channel: 'constructor' })).toEqual({ clips: 2, models: ['swift-1'] });
  });

  it('are gone once each is removed', () => {
    expect(changedPolicy(policy, 'ads', { models: null, words: null }).channels).toEqual({});
  });
});

describe('the allowed catalog', () => {
  const offered = (rules: ValueRules) =>
    allowedCatalog(CATALOG, rules).models.map(({ name, seconds, resolutions }) => ({ name, seconds, resolutions }));
  const check = (rules: ValueRules, draft: RequestDraft) =>
    checkRequest(allowedCatalog(CATALOG, rules), { prompt: 'a fox', image: [], ...draft });

  it('has the allowed models with their allowed lengths and resolutions', () => {
    expect(offered({ models: ['epic-pro'] }).map(({ name }) => name)).toEqual(['epic-pro']);
    expect(offered({ seconds: { max: 11 }, resolutions: ['480p', '1080p'] })).toEqual([
      { name: 'swift-1', seconds: [4, 6, 8], resolutions: ['480p'] },
      { name: 'epic-pro', seconds: { min: 5, max: 11, step: 5 }, resolutions: ['1080p'] },
      { name: 'plain', seconds: [4, 6, 8], resolutions: [] },
    ]);
    expect(offered({ seconds: [15, 6] }).map(({ seconds }) => seconds)).toEqual([[6], [15], [6]]);
  });

  it('fills in allowed defaults', () => {
    expect(check({ models: ['plain'] }, {})).toMatchObject({ ok: true, request: { model: 'plain' } });
    expect(check({ seconds: [8], resolutions: ['480p'] }, {})).toMatchObject({
      ok: true,
      request: { model: 'swift-1', seconds: 8, resolution: '480p' },
    });
  });

  it('refuses what the catalog offers as not allowed, all at once, and anything else as before', () => {
    const rules = { models: ['swift-1'], seconds: [4], clips: 2, words: ['fox'] };
    const refused = check(rules, { seconds: 6, takes: 3 });
    expect(refused).toEqual({
      ok: false,
      refusals: [
        { reason: 'forbidden_words', option: 'prompt', words: ['fox'] },
        { reason: 'not_allowed', option: 'seconds', given: '6', allowed: ['4'] },
        { reason: 'not_allowed', option: 'takes', given: '3', allowed: ['up to 2'] },
      ],
    });
    expect(check(rules, { model: 'Epic-Pro', prompt: 'a hen' })).toMatchObject({
      refusals: [{ reason: 'not_allowed', option: 'model', given: 'Epic-Pro', allowed: ['swift-1'] }],
    });
    expect(check(rules, { seconds: 7, prompt: 'a hen' })).toMatchObject({ refusals: [{ reason: 'not_offered' }] });
    expect(check(rules, { model: 'nope', prompt: 'a hen' })).toMatchObject({ refusals: [{ reason: 'unknown_model' }] });
  });

  it('allows no model where none is left', () => {
    expect(check({ models: ['gone'] }, {})).toMatchObject({ ok: false, refusals: [{ reason: 'not_allowed' }] });
  });
});
