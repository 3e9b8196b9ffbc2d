import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLATFORM_CONFIGS } from '#adapters/registry.ts';
import { type Clock, systemClock } from '#src/clock.ts';
import { ConfigError, readConfig } from '#src/config/config.ts';
import { DailiesError } from '#src/errors.ts';
import { readMarks } from '#src/media/ai-marks.ts';
import { sandboxCatalog } from '#src/sandbox/catalog.ts';
import { Refused } from '#src/sandbox/refusal.ts';
import { readRequest } from '#src/sandbox/request.ts';
import { parseBaseUrl } from '#src/videos/addresses.ts';
import { parseCatalog } from '#src/videos/catalog.ts';
import { createVideoClient } from '#src/videos/client.ts';
import { SIGNATURE_BYTES, videoTypeOf } from '#src/videos/content/container.ts';
import { decodeError, decodeTask, isModeration } from '#src/videos/dialects/tolerant.ts';
import { jsonOf, reasonOf, retryAfterMs, scrubber } from '#src/videos/failures.ts';
import { InvalidFileError } from '#src/videos/json-file.ts';
import type { UpstreamId, VideoService } from '#src/videos/service.ts';
import { box, c2paBox, itunesText, mp4, uuidBox, XMP } from '#test/fakes/boxes.ts';
import { orderOf } from '#test/fakes/tasks.ts';
import { CATALOG } from '../unit/videos/models.ts';
import { deepJson, jsonWith, objectWith, runs, textWith, withinCpuTime } from './runs.ts';

const SERVICE = { scrub: scrubber('sk-secret'), dialect: { decodeError } };

const FIELDS = ['id', 'task_id', 'status', 'task_status', 'progress', 'data', 'success', 'code', 'type', 'error'];
const PLACES = ['message', 'msg', 'detail', 'reason', 'fail_reason', 'metadata', 'url', 'video_url', 'download_url'];
const SAID = ['completed', 'failed', 'queued', 'moderation', 'model_not_found', '50%', 'https://a.example/1', '//b'];
const answer = jsonWith([...FIELDS, ...PLACES], SAID);

describe('a response of the video service', () => {
  it('of any shape is a task or none, and an error with or without a message', () => {
    fc.assert(
      fc.property(answer, (json) => {
        const task = decodeTask(json);
        if (task !== null && task.progress !== null) expect(task.progress).toBe(Math.trunc(task.progress));
        if (task !== null) expect(task.id === null || (typeof task.id === 'string' && task.id !== '')).toBe(true);
        const reading = decodeError(json);
        expect(reading.words === null || reading.words.trim() !== '').toBe(true);
        expect(typeof isModeration(reading)).toBe('boolean');
      }),
      runs(4_000),
    );
  });

  it.each([
    ['lists', '[', ']'],
    ['errors', '{"error":', '}'],
    ['messages', '{"message":', '}'],
    ['data', '{"data":', '}'],
    ['errors in lists', '{"error":[', ']}'],
  ])('of deeply nested %s is parsed within the time limit', async (_what, open, close) => {
    const text = `{"error":${deepJson(60_000, open, close)}}`;
    await withinCpuTime(5_000, () => {
      expect(jsonOf({ text })).toBeDefined();
      expect(reasonOf({ status: 400, headers: {}, text }, SERVICE)).toHaveProperty('codes');
      expect(decodeTask(jsonOf({ text }))).toBeNull();
    });
  });

  it('delays retries by an hour at most, for any Retry-After header', () => {
    const header = textWith('120', '-1', '1e400', 'Infinity', 'Sat, 21 Nov 2026 12:00:00 GMT', '0x10');
    fc.assert(
      fc.property(header, (value) => {
        const waitMs = retryAfterMs({ 'retry-after': value }, Date.UTC(2026, 10, 21));
        if (waitMs !== undefined) expect(waitMs >= 0 && waitMs <= 3_600_000).toBe(true);
      }),
      runs(300),
    );
  });
});

/** Clock that skips delays between retries, but keeps request timeouts. */
const WITHOUT_RETRY_DELAYS: Clock = { ...systemClock, after: (ms, run) => systemClock.after(ms < 4_000 ? 0 : ms, run) };

describe('the client', () => {
  let server: Server;
  let videos: VideoService & { close(): Promise<void> };
  let dir: string;
  let say: { status: number; headers: Record<string, string>; body: Buffer } = {
    status: 200,
    headers: {},
    body: Buffer.of(),
  };

  beforeAll(async () => {
    server = createServer((incoming, response) => {
      incoming.resume().on('end', () => response.writeHead(say.status, say.headers).end(say.body));
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    dir = await mkdtemp(join(tmpdir(), 'dailies-fuzz-'));
    videos = createVideoClient({
      baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      token: 'token-of-this-test',
      catalog: () => CATALOG,
      createTimeoutMs: 5_000,
      requestTimeoutMs: 5_000,
      maxConnections: 4,
      clock: WITHOUT_RETRY_DELAYS,
      random: () => 0,
      logger: pino({ level: 'silent' }),
    });
  });

  afterAll(async () => {
    await videos.close();
    server.closeAllConnections();
    server.close();
    await rm(dir, { recursive: true });
  });

  const status = fc.constantFrom(
    200,
    200,
    200,
    201,
    204,
    206,
    301,
    400,
    401,
    402,
    404,
    408,
    409,
    416,
    422,
    429,
    500,
    503,
  );
  const header = fc.dictionary(
    fc.constantFrom('content-type', 'retry-after', 'location', 'content-range', 'etag', 'x-other'),
    fc.stringMatching(/^[\x20-\x7e]{0,30}$/).map((text) => text.trim()),
    { maxKeys: 3 },
  );
  const body = fc.oneof(
    answer.map((json) => Buffer.from(JSON.stringify(json) ?? '')),
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.concat([Buffer.from('\0\0\0\x18ftypisom'), bytes])),
  );
  const said = fc.record({ status, headers: header, body });

  it('classifies any response to a create as accepted, refused, unsent or lost', async () => {
    await fc.assert(
      fc.asyncProperty(said, async (given) => {
        say = given;
        const outcome = await videos.create(orderOf().request, { key: 'k', mayStillSend: () => true });
        expect(['accepted', 'refused', 'unsent', 'lost']).toContain(outcome.kind);
        if (outcome.kind === 'accepted') expect(outcome.task.id).not.toBe('');
        else expect(outcome.error).toBeInstanceOf(DailiesError);
      }),
      runs(400),
    );
  });

  it.each(['a model ', 'it violates ', 'no such '])(
    'classifies an error with a message of a megabyte of "%s" within the time limit',
    async (piece) => {
      const message = piece.repeat(1_000_000 / piece.length);
      say = { status: 400, headers: {}, body: Buffer.from(JSON.stringify({ error: { message } })) };
      const create = () => videos.create(orderOf().request, { key: 'k', mayStillSend: () => true });
      expect(await withinCpuTime(5_000, create)).toMatchObject({ kind: 'refused', error: { code: 'bad_request' } });
    },
  );

  it('turns any response to a poll into a task or one of its errors', async () => {
    await fc.assert(
      fc.asyncProperty(said, async (given) => {
        say = given;
        const outcome = await videos.retrieve('up/1' as UpstreamId).catch((thrown: unknown) => thrown);
        if (!(outcome instanceof DailiesError)) expect(outcome).toMatchObject({ id: 'up/1' });
      }),
      runs(400),
    );
  });

  it('turns any response to a download into a clip or one of its errors', async () => {
    let at = 0;
    await fc.assert(
      fc.asyncProperty(said, async (given) => {
        say = given;
        at += 1;
        const outcome = await videos
          .download('up-1' as UpstreamId, join(dir, `${at}.mp4`), undefined)
          .catch((thrown: unknown) => thrown);
        if (!(outcome instanceof DailiesError))
          expect(outcome).toMatchObject({ contentType: expect.stringMatching(/^video\//) });
      }),
      runs(60),
    );
  });
});

describe('the marks of AI in a file', () => {
  let dir: string;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'dailies-fuzz-marks-'));
  });
  afterAll(() => rm(dir, { recursive: true }));

  const content = fc.oneof(
    fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
    textWith('trainedAlgorithmicMedia', 'AIGC', '"Label":"1"', 'made with AI', 'dailies:lostMarks="').map((text) =>
      Buffer.from(text),
    ),
  );
  const name = fc.constantFrom('moov', 'udta', 'meta', 'uuid', 'mdat', 'free', '\0\0\0\0');
  const size = fc.option(fc.oneof(fc.nat(40), fc.constantFrom(0, 1, 7, 2 ** 31, 2 ** 32 - 1)), { nil: undefined });
  const damaged = fc.tuple(name, content, size).map(([named, inside, bytes]) => box(named, inside, bytes));
  const sound = content.map((inside) =>
    mp4({
      top: [uuidBox(XMP, inside), c2paBox(inside.toString('latin1'))],
      header: [itunesText('desc', inside.toString())],
    }),
  );
  const file = fc.array(fc.oneof(damaged, sound, content), { maxLength: 8 }).map((parts) => Buffer.concat(parts));

  it('are known ones, or none, of any bytes', async () => {
    const path = join(dir, 'file.mp4');
    await fc.assert(
      fc.asyncProperty(file, async (bytes) => {
        await writeFile(path, bytes);
        const marks = await readMarks(path);
        if (marks === null) return;
        for (const kind of [...marks.kinds, ...marks.lost])
          expect(['c2pa', 'credentials', 'iptc', 'aigc', 'text']).toContain(kind);
        expect(marks.texts.length).toBeLessThanOrEqual(8);
        for (const text of marks.texts) expect(text.length).toBeLessThanOrEqual(505);
      }),
      runs(400),
    );
  });

  it.each(['made with ', 'made with a ', 'AIGC Label ', '"Label"::::', 'dailies:lostMarks="', 'not AI-'])(
    'are read from a megabyte of "%s" within the time limit',
    async (piece) => {
      const path = join(dir, 'long.mp4');
      const text = piece.repeat(1_000_000 / piece.length);
      await writeFile(path, mp4({ top: [uuidBox(XMP, text)], header: [box('udta', text)] }));
      expect(await withinCpuTime(5_000, () => readMarks(path))).toEqual({ kinds: [], lost: [], texts: [] });
    },
  );
});

describe('input from files and settings', () => {
  it('a catalog is valid, or lists its problems', () => {
    const names = ['models', 'name', 'title', 'billing', 'price', 'currency', 'seconds', 'media', 'min', 'max', 'step'];
    const catalog = fc.oneof(
      jsonWith([...names, 'aspectRatios', 'resolutions', 'default', 'image'], ['swift-1', '0.05', 'USD', 'per_call']),
      fc.anything(),
    );
    fc.assert(
      fc.property(catalog, (json) => {
        try {
          expect(parseCatalog(json).models.length).toBeGreaterThan(0);
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(InvalidFileError);
          expect((thrown as InvalidFileError).problems.length).toBeGreaterThan(0);
        }
      }),
      runs(1_000),
    );
  });

  it('a catalog with one changed field is valid, or throws InvalidFileError', () => {
    const paths = [
      'name',
      'title',
      'billing',
      'price',
      'currency',
      'seconds',
      'aspectRatios',
      'media',
      'promptMaxLength',
    ];
    fc.assert(
      fc.property(fc.constantFrom(...paths), fc.anything(), (path, value) => {
        const [first] = sandboxCatalog.models;
        try {
          parseCatalog({ models: [{ ...first, [path]: value }] });
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(InvalidFileError);
        }
      }),
      runs(1_000),
    );
  });

  it('an environment is a configuration, or throws ConfigError', () => {
    const names = ['PORT', 'HOST', 'VIDEO_API_BASE_URL', 'STORE_URL', 'PUBLIC_URL', 'POLL_MIN_MS', 'LOG_LEVEL'];
    const value = textWith('https://', 'http://[', 'sqlite:', 'redis://', '127.0.0.1', '99999999999', '-1', ' ', '//');
    const env = fc.dictionary(fc.constantFrom(...names, 'MAX_OPEN_PER_PERSON', 'SLACK_API_URL', '__proto__'), value);
    fc.assert(
      fc.property(env, (given) => {
        try {
          expect(readConfig(given, PLATFORM_CONFIGS)).toHaveProperty('storeUrl');
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(ConfigError);
        }
      }),
      runs(1_000),
    );
  });

  it('a base URL is valid, or refused as an address', () => {
    fc.assert(
      fc.property(textWith('http://', 'https://', 'a.example', '[::1]', '@', ':', '/v1', '?', '#'), (text) => {
        try {
          expect(parseBaseUrl(text).search).toBe('');
        } catch (thrown) {
          expect(thrown).toMatchObject({ code: 'refused_address' });
        }
      }),
      runs(1_000),
    );
  });

  it('the first bytes of a file are those of a video or not', () => {
    const head = fc.uint8Array({ maxLength: SIGNATURE_BYTES }).map((bytes) => Buffer.from(bytes));
    const known = fc.constantFrom('\0\0\0\x18ftypqt  ', '\x1aE\xdf\xa3', 'RIFF\0\0\0\0AVI ', 'OggS', '\0\0\0\x08moov');
    fc.assert(
      fc.property(
        fc.oneof(
          head,
          fc.tuple(known, head).map(([text, rest]) => Buffer.concat([Buffer.from(text, 'latin1'), rest])),
        ),
        (bytes) => {
          const type = videoTypeOf(bytes);
          expect(type === null || type.startsWith('video/')).toBe(true);
        },
      ),
      runs(2_000),
    );
  });

  it('a body for the sandbox is a request, or a refusal with a message', () => {
    const names = [
      'model',
      'prompt',
      'duration',
      'video_duration',
      'aspect_ratio',
      'resolution',
      'image_urls',
      'video_urls',
    ];
    const body = fc.oneof(objectWith(...names), jsonWith(names, ['swift-1', 6, '16:9', ['https://a.example/1']]));
    fc.assert(
      fc.property(body, (given) => {
        try {
          readRequest(given, CATALOG);
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(Refused);
          expect(thrown).toHaveProperty('message', expect.stringMatching(/\S/));
        }
      }),
      runs(1_500),
    );
  });
});
