import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Task } from '#src/tasks/task.ts';
import type { Clip } from '#src/videos/service.ts';
import { wholeClip } from '#test/fakes/clip.ts';
import { GalleryHouse, OPENER } from '#test/fakes/gallery-house.ts';
import { deferred } from '#test/fakes/settle.ts';
import { BOB } from '#test/fakes/tasks.ts';

const BYTES = wholeClip(2_000);
const BOBS = { ...OPENER, user: BOB };
const PRIVATE = { channel: 'secret', audience: 'channel' } as const;

let house: GalleryHouse;
let folder: string;

beforeEach(async () => {
  house = await new GalleryHouse().serve();
  folder = await mkdtemp(join(tmpdir(), 'dailies-gallery-'));
});

afterEach(() => rm(folder, { recursive: true }));

/** Adds a clip with its file. */
async function addFile(origin: Parameters<GalleryHouse['add']>[0] = {}, changes: Partial<Task> = {}): Promise<Task> {
  const path = join(folder, `${Math.random()}.mp4`);
  await writeFile(path, BYTES);
  return house.add(origin, { clip: { path, bytes: BYTES.length, contentType: 'video/mp4' }, ...changes });
}

it('needs a session for everything but its page', async () => {
  const task = await addFile();
  const paths = [
    'api/session',
    'api/clips',
    `api/clips/${task.id}`,
    'api/facets',
    'api/sets/set',
    'api/defaults',
    `cuts/cut-${'0'.repeat(32)}`,
    `zip?ids=${task.id}`,
    `clips/${task.id}`,
    `posters/${task.id}`,
  ];
  for (const path of paths) {
    for (const cookie of ['', 'dailies_gallery=', `dailies_gallery=${'A'.repeat(43)}`]) {
      const response = await house.get(path, cookie);
      expect([path, response.statusCode]).toEqual([path, 401]);
      expect(response.json()).toEqual({ error: expect.stringContaining('/video gallery') });
    }
  }
  const page = await house.get('');
  expect(page.statusCode).toBe(404);
  expect((await house.http.inject('/gallery')).statusCode).toBe(200);
});

it('serves a clip with Range, to be neither cached, indexed nor run', async () => {
  const task = await addFile();
  const cookie = await house.open();
  const whole = await house.get(`clips/${task.id}`, cookie);
  expect(whole.rawPayload.equals(BYTES)).toBe(true);
  expect(whole.headers).toMatchObject({
    'content-type': 'video/mp4',
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-store',
    'x-robots-tag': 'noindex, nofollow',
    'x-content-type-options': 'nosniff',
    'content-security-policy': 'sandbox',
    'content-disposition': `inline; filename*=UTF-8''red-fox-running-snow-${task.id.slice(0, 4)}.mp4`,
  });
  const part = await house.get(`clips/${task.id}?download`, cookie, { range: 'bytes=100-199' });
  expect([part.statusCode, part.headers['content-range']]).toEqual([206, `bytes 100-199/${BYTES.length}`]);
  expect(part.rawPayload.equals(BYTES.subarray(100, 200))).toBe(true);
  expect(part.headers['content-disposition']).toMatch(/^attachment;/);
});

it('hides private clips of others by id, and those of other teams, on every path', async () => {
  const hidden = await addFile({ ...PRIVATE, user: BOB });
  const elsewhere = await addFile({ team: 'T2' });
  const own = await addFile(PRIVATE);
  const [adas, bobs] = [await house.open(), await house.open(BOBS)];
  for (const { id } of [hidden, elsewhere]) {
    for (const path of [`clips/${id}`, `posters/${id}`, `api/clips/${id}`, `zip?ids=${id}`])
      expect((await house.get(path, adas)).statusCode).toBe(404);
    const press = { id: '0'.repeat(32), task: id, action: { kind: 'button', button: 'order:x' } };
    expect((await house.post('presses', adas, press)).statusCode).toBe(404);
  }
  expect((await house.get(`clips/${own.id}`, adas)).statusCode).toBe(200);
  expect((await house.get(`clips/${own.id}`, bobs)).statusCode).toBe(404);
  expect((await house.get(`clips/${hidden.id}`, bobs)).statusCode).toBe(200);
  const listed = (await house.get('api/clips', adas)).json<{ readonly clips: readonly { readonly id: string }[] }>();
  expect(listed.clips.map(({ id }) => id)).toEqual([own.id]);
});

it('shows private clips of the channel of the link until the person may no longer view it', async () => {
  const hidden = await addFile({ ...PRIVATE, user: BOB });
  const cookie = await house.open({ ...OPENER, channel: 'secret' });
  expect((await house.get(`clips/${hidden.id}`, cookie)).statusCode).toBe(200);
  house.platform.memberRights.set('secret', { view: false, post: false, manage: false });
  house.clock.advance(60_000);
  expect((await house.get(`clips/${hidden.id}`, cookie)).statusCode).toBe(404);
});

it('answers HEAD as GET without its content, but reads no clips for it', async () => {
  const task = await addFile();
  const cookie = await house.open();
  const head = (path: string) => house.http.inject({ method: 'HEAD', url: `/gallery/${path}`, headers: { cookie } });
  const found = await head(`clips/${task.id}`);
  expect([found.statusCode, found.headers['content-length'], found.body]).toEqual([200, String(BYTES.length), '']);
  expect((await head(`clips/${task.id}x`)).statusCode).toBe(404);
  expect((await head(`zip?ids=${task.id}`)).statusCode).toBe(404);
});

it('lets no other page show it, and sends no address of it elsewhere', async () => {
  const { headers } = await house.http.inject('/gallery');
  expect(headers).toMatchObject({
    'referrer-policy': 'no-referrer',
    'x-robots-tag': 'noindex, nofollow',
    'cache-control': 'private, no-store',
    'x-frame-options': 'DENY',
  });
  expect(headers['content-security-policy']).toContain("default-src 'none'");
});

it('offers the deletion of a clip to those who may delete it, and passes it on', async () => {
  const [own, others] = [await house.add(), await house.add({ user: BOB })];
  house.platform.memberRights.set('clips', { view: true, post: true, manage: false });
  const cookie = await house.open();
  const mayDelete = async (id: string) => (await house.get(`api/clips/${id}`, cookie)).json().mayDelete;
  expect([await mayDelete(own.id), await mayDelete(others.id)]).toEqual([true, false]);
  // One of ADMINS, who manages no channel.
  const admins = await house.open({ ...OPENER, user: { id: 'root', name: 'Root' } });
  expect((await house.get(`api/clips/${others.id}`, admins)).json()).toMatchObject({ mayDelete: true });
  house.reply = { kind: 'deleted', lines: ['Deleted.'] };
  const press = { id: 'ab'.repeat(16), task: own.id, action: { kind: 'delete' } };
  expect((await house.post('presses', cookie, press)).json()).toEqual(house.reply);
  expect(house.presses).toEqual([expect.objectContaining({ action: { kind: 'delete' } })]);
});

it('shows and changes the defaults of its person alone', async () => {
  const [adas, bobs] = [await house.open(), await house.open(BOBS)];
  const none = { model: null, seconds: null, aspect: null };
  const read = async (cookie: string) => (await house.get('api/defaults', cookie)).json();
  expect(await read(adas)).toEqual({
    values: none,
    standard: 'swift-1',
    models: [
      {
        name: 'swift-1',
        title: 'Swift 1',
        seconds: { choices: [4, 6, 8], usual: 4 },
        aspect: { choices: ['16:9'], usual: '16:9' },
      },
    ],
  });
  expect((await house.post('defaults', adas, { seconds: 6, model: 'swift-1' })).json()).toEqual({
    values: { ...none, seconds: 6, model: 'swift-1' },
  });
  await house.post('defaults', adas, { model: null });
  expect((await read(adas)).values).toEqual({ ...none, seconds: 6 });
  expect((await read(bobs)).values).toEqual(none);
  for (const [patch, status] of [
    [{ seconds: 7 }, 409],
    [{ aspect: '9:16' }, 409],
    [{ model: 'gone-1' }, 409],
    [{ seconds: 'six' }, 400],
    [{ price: 1 }, 400],
  ] as const)
    expect([patch, (await house.post('defaults', adas, patch)).statusCode]).toEqual([patch, status]);
  expect((await house.post('defaults', adas, { seconds: 8 }, { 'x-gallery-token': '' })).statusCode).toBe(403);
  expect((await read(adas)).values).toEqual({ ...none, seconds: 6 });
});

it('leads no path out of its folders', async () => {
  const cookie = await house.open();
  const outside = ['..%2f..%2fpackage.json', '%2e%2e/%2e%2e/package.json', '....//package.json', '%00', 'api%2fclips'];
  for (const kind of ['clips/', 'posters/', 'page/', 'vendor/', 'api/clips/'])
    for (const path of outside) {
      const response = await house.get(`${kind}${path}`, cookie);
      expect([kind + path, response.statusCode]).toEqual([kind + path, expect.toBeOneOf([400, 403, 404])]);
      expect(response.body).not.toContain('"dependencies"');
    }
});

it('refuses wrong filters and cursors', async () => {
  const cookie = await house.open();
  for (const query of ['cursor=x', 'cursor=1.%2e%2e', 'from=-1', 'to=x', `text=${'a'.repeat(201)}`])
    expect([query, (await house.get(`api/clips?${query}`, cookie)).statusCode]).toEqual([query, 400]);
});

it('pages with the cursor of the page before', async () => {
  for (let at = 0; at < 30; at += 1) await house.add();
  const cookie = await house.open();
  type Page = { readonly clips: readonly { readonly id: string }[]; readonly next: string | null };
  const first = (await house.get('api/clips', cookie)).json<Page>();
  const second = (await house.get(`api/clips?cursor=${first.next}`, cookie)).json<Page>();
  expect([first.clips.length, second.clips.length, second.next]).toEqual([24, 6, null]);
  expect(new Set([...first.clips, ...second.clips].map(({ id }) => id)).size).toBe(30);
});

it('passes a press on once it carries the token of its session, and comes from the page', async () => {
  const task = await house.add();
  const [cookie, other] = [await house.open(), await house.open(BOBS)];
  const press = {
    id: 'ab'.repeat(16),
    task: task.id,
    action: { kind: 'retry', price: { amount: '0.30', currency: 'USD' } },
  };
  const tokenOf = async (of: string): Promise<string> =>
    (await house.get('api/session', of)).json<{ token: string }>().token;
  for (const headers of [
    { 'x-gallery-token': '' },
    { 'x-gallery-token': await tokenOf(other) },
    { origin: 'https://evil.example' },
    { 'sec-fetch-site': 'cross-site' },
  ])
    expect((await house.post('presses', cookie, press, headers)).statusCode).toBe(403);
  const plain = await house.post('presses', cookie, press, { 'content-type': 'text/plain' });
  expect(plain.statusCode).toBe(415);
  expect(house.presses).toEqual([]);
  house.reply = { kind: 'ordered', task: task.id };
  expect((await house.post('presses', cookie, press)).json()).toEqual({ kind: 'ordered', task: task.id });
  expect(house.presses).toEqual([expect.objectContaining({ id: press.id, action: press.action })]);
  expect(house.presses[0]?.session.user).toEqual(OPENER.user);
});

it('ends the session on request', async () => {
  const cookie = await house.open();
  const ended = await house.post('end', cookie, {});
  expect(ended.headers['set-cookie']).toMatch(/^dailies_gallery=; .*Max-Age=0/);
  expect((await house.get('api/clips', cookie)).statusCode).toBe(401);
});

it('shows neither addresses of reference media nor other data of a task', async () => {
  const request = {
    model: 'swift-1',
    prompt: 'a <b>fox</b>',
    seconds: 6,
    media: { image: ['https://dailies.example/media/x?signature=s'], audio: [], video: [] },
  };
  const task = await house.add({ address: { token: 'secret-token' } }, { request });
  const cookie = await house.open();
  const found = await house.get(`api/clips/${task.id}`, cookie);
  expect(found.json()).toMatchObject({ references: [{ kind: 'image', count: 1 }], retry: { label: '$0.30' } });
  for (const secret of ['signature', 'secret-token', '/clips/clip.mp4']) expect(found.body).not.toContain(secret);
});

it('sends several clips as one archive with a table, in which no text is a formula', async () => {
  const one = await addFile();
  const typed = '=HYPERLINK("http://evil.example")';
  const request = { model: 'swift-1', prompt: `${typed} on film`, typed, style: 'house', seconds: 6 };
  const two = await addFile({ user: BOB }, { request: { ...request, media: { image: [], audio: [], video: [] } } });
  const lost = await house.add();
  const hidden = await addFile({ ...PRIVATE, user: BOB });
  const cookie = await house.open();
  const ids = [one, two, lost, hidden].map(({ id }) => id).join(',');
  expect((await house.get(`zip?ids=${ids}`)).statusCode).toBe(401);
  const sent = await house.get(`zip?ids=${ids}`, cookie);
  expect(sent.headers).toMatchObject({ 'content-type': 'application/zip', 'cache-control': 'private, no-store' });
  const path = join(folder, 'clips.zip');
  await writeFile(path, sent.rawPayload);
  const names = sent.rawPayload.toString('latin1').match(/\d{3}-[\w-]+\.mp4/g);
  expect(new Set(names).size).toBe(2);
  // Stored as it is, so the bytes are in the archive.
  expect(sent.rawPayload.indexOf(BYTES)).toBeGreaterThan(0);
  const table = sent.rawPayload.toString('utf8');
  expect(table).toContain(`"'=HYPERLINK(""http://evil.example"")",Swift 1`);
  expect(table).toMatch(/,style,sent_prompt\r\n/u);
  expect(table).toContain(`,house,"'=HYPERLINK(""http://evil.example"") on film"\r\n`);
  expect(table).toContain(lost.id);
  expect(table).not.toContain(hidden.id);
});

it('sends whole clips in an archive though copies are evicted meanwhile, and fails rather than cut one short', async () => {
  const [one, two] = [await addFile(), await addFile()];
  const bring = async ({ id, clip }: { readonly id: string; readonly clip: { readonly path: string } & Clip }) => {
    // Room for the second clip is made by the eviction of the first.
    if (id === two.id) await rm(one.clip?.path ?? '', { force: true });
    return clip;
  };
  house = await new GalleryHouse().serve(null, { fileOf: bring });
  for (const { id, clip } of [one, two]) await house.add({}, { id, ...(clip === undefined ? {} : { clip }) });
  const cookie = await house.open();
  const { rawPayload } = await house.get(`zip?ids=${one.id},${two.id}`, cookie);
  const first = rawPayload.indexOf(BYTES);
  expect([first > 0, rawPayload.indexOf(BYTES, first + 1) > first]).toEqual([true, true]);
  // An archive without its end is reported as damaged.
  expect(rawPayload.lastIndexOf('PK\u0005\u0006')).toBeGreaterThan(0);
  await writeFile(two.clip?.path ?? '', BYTES.subarray(0, 900));
  await expect(house.get(`zip?ids=${two.id}`, cookie)).rejects.toThrow('response destroyed');
});

it('downloads many clips for each person once at a time, and for ten people', async () => {
  const release = deferred();
  let begun = 0;
  const fileOf = async ({ clip }: { readonly clip: Clip }) => {
    begun += 1;
    await release.promise;
    return clip;
  };
  const path = join(folder, 'clip.mp4');
  await writeFile(path, BYTES);
  house = await new GalleryHouse().serve(null, { fileOf });
  const { id } = await house.add({}, { clip: { path, bytes: BYTES.length, contentType: 'video/mp4' } });
  const people = Array.from({ length: 11 }, (_, at) => ({ id: `u${at}`, name: `Person ${at}` }));
  const [last = '', ...cookies] = await Promise.all(people.map((user) => house.open({ ...OPENER, user })));
  const [first = '', ...others] = cookies;
  const download = (cookie: string) => house.get(`zip?ids=${id}`, cookie);
  const started = [download(first)];
  await expect.poll(() => begun).toBe(1);
  const again = await house.open({ ...OPENER, user: people[1] ?? BOB });
  for (const cookie of [first, again]) {
    const refused = await download(cookie);
    expect(refused.statusCode).toBe(429);
    expect(refused.json()).toEqual({ error: expect.stringContaining('You are downloading many clips already.') });
  }
  started.push(...others.map(download));
  await expect.poll(() => begun).toBe(10);
  expect((await download(last)).json()).toEqual({ error: expect.stringContaining('Others are downloading') });
  release.resolve();
  for (const { statusCode } of await Promise.all(started)) expect(statusCode).toBe(200);
  expect((await download(last)).statusCode).toBe(200);
});

it('limits a download to 200 clips and 4 GB', async () => {
  const cookie = await house.open();
  const many = Array.from({ length: 201 }, (_, at) => `t${at}`).join(',');
  expect((await house.get(`zip?ids=${many}`, cookie)).statusCode).toBe(400);
  const half = { clip: { path: '/x', bytes: 2.1 * 1024 ** 3, contentType: 'video/mp4' } };
  const [one, two] = [await house.add({}, half), await house.add({}, half)];
  expect((await house.get(`zip?ids=${one.id},${two.id}`, cookie)).statusCode).toBe(413);
  for (const query of ['', 'ids=', 'ids=..%2f..', 'ids=a,,b'])
    expect((await house.get(`zip?${query}`, cookie)).statusCode).toBe(400);
  expect((await house.get('zip?ids=nothing', cookie)).statusCode).toBe(404);
});
