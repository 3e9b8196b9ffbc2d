import { request } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FakeSlack, startSlack } from '#test/fakes/slack/index.ts';
import { RawApp } from './raw-app.ts';

let slack: FakeSlack;
let app: RawApp;

beforeEach(async () => {
  slack = await startSlack();
  app = new RawApp(slack);
});
afterEach(() => slack.close());

const violation = (): string => {
  expect(slack.violations).toHaveLength(1);
  return slack.violations[0] ?? '';
};
const complete = (fileId: string, place: object = { channel_id: slack.channels.general }) =>
  app.call('files.completeUploadExternal', { files: [{ id: fileId }], ...place });
const info = (file: string) => app.call('files.info', { file });

describe('an upload', () => {
  it.each(['raw', 'form'] as const)('of %s bytes is posted in a thread', async (as) => {
    const { ts } = await app.post({});
    const { url, fileId } = await app.announce(5);
    expect(await app.send(url, Buffer.from('bytes'), as)).toBe(200);
    const place = { channel_id: slack.channels.general, thread_ts: ts, initial_comment: 'A fox' };
    expect(await complete(fileId, place)).toMatchObject({ ok: true, files: [{ id: fileId }] });
    const [, message] = slack.messages(slack.channels.general);
    expect(message).toMatchObject({ threadTs: ts, fileIds: [fileId], text: 'A fox' });
    const { general } = slack.channels;
    expect(await info(fileId)).toMatchObject({
      file: { mimetype: 'video/mp4', shares: { public: { [general]: [{ ts: message?.ts, thread_ts: ts }] } } },
    });
    expect(slack.violations).toEqual([]);
  });

  it('of a large file is counted and hashed', async () => {
    const bytes = 40 * 1024 * 1024;
    const { url, fileId } = await app.announce(bytes);
    await app.send(url, Buffer.alloc(bytes, 7));
    expect(slack.files[0]).toMatchObject({ id: fileId, length: bytes, content: null, sha256: expect.any(String) });
  });

  it('is processed later on request', async () => {
    slack.processSlowly(2);
    const { files } = await app.upload('bytes', { channel_id: slack.channels.general });
    const [{ id: fileId }] = files as [{ id: string }];
    const told = async () => {
      const { shares, mimetype } = (await info(fileId))['file'] as { shares: object; mimetype: string };
      return [Object.keys(shares), mimetype];
    };
    expect(await told()).toEqual([[], '']);
    expect(await told()).toEqual([[], '']);
    expect(await told()).toEqual([['public'], 'video/mp4']);
  });

  it('is not visible before it is completed', async () => {
    const { fileId } = await app.announce(5);
    expect(await info(fileId)).toMatchObject({ error: 'file_not_found' });
  });

  it('may stay unshared', async () => {
    await app.upload('bytes', {});
    expect(slack.messages(slack.channels.general)).toEqual([]);
    expect(slack.violations).toEqual([]);
  });

  it('whose response was lost is found by files.info', async () => {
    const { url, fileId } = await app.announce(5);
    await app.send(url, Buffer.from('bytes'));
    slack.dropNextAnswer('files.completeUploadExternal');
    await expect(complete(fileId)).rejects.toThrow();
    expect(await info(fileId)).toMatchObject({ ok: true, file: { shares: { public: {} } } });
  });

  it('may send its bytes again until it is completed', async () => {
    const { url, fileId } = await app.announce(5);
    slack.failHttp('upload', 503);
    expect(await app.send(url, Buffer.from('bytes'))).toBe(503);
    expect(await complete(fileId)).toMatchObject({ error: 'file_not_found' });
    expect(violation()).toContain('before its bytes were sent');
    expect(await app.send(url, Buffer.from('bytes'))).toBe(200);
    expect(await complete(fileId)).toMatchObject({ ok: true });
  });
});

describe('invalid uploads', () => {
  it('reject a file completed twice', async () => {
    const { url, fileId } = await app.announce(5);
    await app.send(url, Buffer.from('bytes'));
    await complete(fileId);
    expect(await complete(fileId)).toMatchObject({ error: 'file_not_found' });
    expect(violation()).toContain('doubled file');
    expect(slack.messages(slack.channels.general)).toHaveLength(1);
  });

  it('reject bytes after completion', async () => {
    const { url, fileId } = await app.announce(5);
    await app.send(url, Buffer.from('bytes'));
    await complete(fileId);
    expect(await app.send(url, Buffer.from('bytes'))).toBe(400);
    expect(violation()).toContain('doubled file');
  });

  it('reject a thread in two channels', async () => {
    const { general, clips } = slack.channels;
    expect(await app.upload('bytes', { channels: `${general},${clips}` })).toMatchObject({
      error: 'invalid_arguments',
    });
  });

  it('report the same clip twice in a channel, without rejecting it', async () => {
    const place = { channel_id: slack.channels.general };
    await app.upload('bytes', place);
    await app.upload('other', place);
    await app.upload('bytes', { channel_id: slack.channels.clips });
    expect(slack.violations).toEqual([]);
    expect(await app.upload('bytes', place)).toMatchObject({ ok: true });
    expect(violation()).toContain('doubled file');
  });

  it('reject another length than announced', async () => {
    const { url } = await app.announce(6);
    expect(await app.send(url, Buffer.from('bytes'))).toBe(400);
    expect(violation()).toContain('5 bytes sent, 6 announced');
  });

  it('reject another method than POST', async () => {
    const { url } = await app.announce(5);
    expect(await app.send(url, Buffer.from('bytes'), 'raw', 'PUT')).toBe(405);
  });

  it('reject an empty file, a nameless one and an alt text that is too long', async () => {
    const announce = (args: object) => app.call('files.getUploadURLExternal', args);
    expect(await announce({ filename: 'fox.mp4', length: 0 })).toMatchObject({ error: 'invalid_arguments' });
    expect(await announce({ length: 5 })).toMatchObject({ error: 'invalid_arguments' });
    const spoken = { filename: 'fox.mp4', length: 5, alt_txt: 'x'.repeat(1001) };
    expect(await announce(spoken)).toMatchObject({ error: 'alt_txt_too_large' });
  });

  it('reject a channel without the app, even with chat:write.public, and an archived one', async () => {
    expect(await app.upload('bytes', { channel_id: slack.channels.lobby })).toMatchObject({ error: 'not_in_channel' });
    expect(await app.upload('bytes', { channel_id: slack.channels.hidden })).toMatchObject({
      error: 'channel_not_found',
    });
    expect(await app.upload('bytes', { channel_id: slack.users.bob })).toMatchObject({ error: 'channel_not_found' });
    slack.archive(slack.channels.general);
    expect(await app.upload('bytes', { channel_id: slack.channels.general })).toMatchObject({ error: 'is_archived' });
  });

  it('report the ts of a reply', async () => {
    const { ts } = await app.post({});
    const { ts: reply } = await app.post({ thread_ts: ts });
    await app.upload('bytes', { channel_id: slack.channels.general, thread_ts: reply });
    expect(violation()).toContain('is a reply');
  });

  it('reject a markdown block', async () => {
    const blocks = [{ type: 'markdown', text: 'a fox' }];
    const answer = await app.upload('bytes', { channel_id: slack.channels.general, blocks });
    expect(answer).toMatchObject({ error: 'internal_error' });
  });

  it('reject a public URL requested by a bot', async () => {
    expect(await app.call('files.sharedPublicURL', { file: 'F1' })).toMatchObject({ error: 'not_allowed_token_type' });
  });
});

describe('files of users', () => {
  const get = (url: string, token?: string) =>
    request(url, { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } });
  const shared = () => {
    const file = slack.people.upload({ name: 'fox.png', content: Buffer.from('png') });
    slack.people.say('look', { files: [file] });
    return file;
  };

  it('are private: a sign-in page without the token', async () => {
    const { id: fileId } = shared();
    const answer = await info(fileId);
    const { url_private: url } = answer['file'] as { url_private: string };
    const page = await get(url);
    expect([page.statusCode, page.headers['content-type']]).toEqual([200, expect.stringContaining('text/html')]);
    await page.body.dump();
    const file = await get(url, slack.botToken);
    expect([file.headers['content-type'], await file.body.text()]).toEqual(['image/png', 'png']);
    expect(slack.fetches).toEqual([
      { fileId, isAllowed: false },
      { fileId, isAllowed: true },
    ]);
    expect(slack.privateUrls).toContain(url);
    slack.removeScopes(['files:read']);
    const refused = await get(url, slack.botToken);
    expect(await refused.body.text()).toContain('Sign in');
  });

  it('are visible only to apps with access to the channel', async () => {
    const file = slack.people.upload({ name: 'fox.png', content: Buffer.from('png') });
    slack.people.say('look', { files: [file], channel: slack.channels.hidden });
    expect(await info(file.id)).toMatchObject({ error: 'file_not_found' });
  });

  it('cannot be used as images in blocks', async () => {
    shared();
    const blocks = [{ type: 'image', alt_text: 'a fox', image_url: slack.privateUrls[0] }];
    expect(await app.post({ blocks })).toMatchObject({ error: 'invalid_blocks' });
    expect(violation()).toContain('private address');
  });
});
