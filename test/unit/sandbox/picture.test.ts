import { beforeAll, describe, expect, it } from 'vitest';
import { loadFonts } from '#src/fonts.ts';
import figures from '#src/sandbox/render/figures.json' with { type: 'json' };
import type { RenderJob } from '#src/sandbox/render/job.ts';
import { createPainter, frameSize } from '#src/sandbox/render/painter.ts';
import { sceneOf } from '#src/sandbox/render/scene.ts';
import { setCaption, wrapWords } from '#src/sandbox/render/title.ts';
import words from '#src/sandbox/render/vocabulary.json' with { type: 'json' };
import { difference, type Picture, shareOf } from '#test/fakes/decoded.ts';

const JOB: RenderJob = {
  id: 'video_1',
  status: 'in_progress',
  model: 'swift-1',
  prompt: 'a fox',
  seconds: 4,
  aspectRatio: '16:9',
  resolution: '480p',
  media: { image: [], audio: [], video: [] },
  steering: null,
  createdAtMs: 0,
  images: [],
  isLoopbackAllowed: false,
  path: '',
};

function paint(job: Partial<RenderJob>, seconds = 1): Picture {
  const painter = createPainter({ ...JOB, ...job }, []);
  return { ...painter.size, pixels: Uint8ClampedArray.from(painter.paint(seconds)) };
}

beforeAll(loadFonts);

describe('the size of a clip', () => {
  it.each([
    ['16:9', '480p', 854, 480],
    ['16:9', '720p', 1280, 720],
    ['16:9', '1080p', 1920, 1080],
    ['9:16', '720p', 720, 1280],
    ['4:3', '720p', 960, 720],
    ['3:4', '480p', 480, 640],
    ['1:1', '1080p', 1080, 1080],
  ] as const)('%s at %s is %i × %i', (ratio, resolution, width, height) => {
    expect(frameSize(ratio, resolution)).toEqual({ width, height });
  });
});

const RED_FOX = 'a red fox running through snow, cinematic';

describe('the scene of a prompt', () => {
  it('is the same for the same task', () => {
    expect(sceneOf('a fox in snow', 'video_1')).toEqual(sceneOf('a fox in snow', 'video_1'));
    expect(difference(paint({}), paint({}))).toBe(0);
  });

  it('is a picture of its own for each task of one prompt', () => {
    const takes = ['video_1', 'video_2', 'video_3', 'video_4'].map((id) => paint({ id, prompt: RED_FOX }));
    for (const [index, take] of takes.entries()) {
      for (const other of takes.slice(index + 1)) expect(difference(take, other)).toBeGreaterThan(5);
    }
  });

  it('differs for another prompt', () => {
    expect(difference(paint({ prompt: 'quiet thoughts' }), paint({ prompt: 'loud thoughts' }))).toBeGreaterThan(10);
  });

  it('moves', () => {
    expect(difference(paint({}, 0), paint({}, 2))).toBeGreaterThan(1);
  });

  const { moods, places, subjects, weathers } = words;

  it.each([
    [RED_FOX, { place: places.forest, weather: weathers.snow, subject: subjects.fox }],
    ['wolves at midnight in the mountains', { place: places.mountains, subject: subjects.wolf, hasStars: true }],
    ['a sailing boat in a storm', { place: places.sea, weather: weathers.rain, subject: subjects.boat }],
    ['a blue car in the desert at sunset', { place: places.desert, subject: subjects.car, accent: [47, 111, 208] }],
    ['cherry blossoms over Tokyo', { place: places.city, weather: weathers.petals }],
    ['a robot in a green forest', { place: places.forest, subject: subjects.robot, accent: null }],
    ['a cup of coffee', { place: places.table, subject: subjects.mug }],
    ['a cat sleeping on the beach', { place: places.sea, subject: subjects.cat, isStill: true }],
  ])('has what %j says', (prompt, scene) => {
    expect(sceneOf(prompt, 'video_1')).toMatchObject(scene);
  });

  it('has the colours of the words', () => {
    const red = [211, 64, 31] as const;
    const blue = [47, 111, 208] as const;
    for (const id of ['video_1', 'video_2', 'video_3']) {
      expect(shareOf(paint({ id, prompt: RED_FOX }), red, 12)).toBeGreaterThan(0.002);
      expect(shareOf(paint({ id, prompt: 'a blue fox in snow' }), red, 12)).toBe(0);
      expect(shareOf(paint({ id, prompt: 'a blue fox in snow' }), blue, 12)).toBeGreaterThan(0.002);
      expect(brightness(paint({ id, prompt: RED_FOX }))).toBeGreaterThan(
        brightness(paint({ id, prompt: 'at night' })) + 50,
      );
    }
  });

  it('has a figure for every subject and every cover', () => {
    const named = [
      ...Object.values(subjects).map(({ figure }) => figure),
      ...Object.values(places).flatMap(({ cover }) => cover),
    ];
    expect(named.filter((name) => !Object.hasOwn(figures, name))).toEqual([]);
    expect(Object.values(subjects).filter(({ home }) => home !== '' && !Object.hasOwn(places, home))).toEqual([]);
    expect(Object.values(moods).filter(({ palette }) => !/^(#[0-9a-f]{6} ?){6}$/.test(palette))).toEqual([]);
  });
});

function brightness({ pixels }: Picture): number {
  return pixels.reduce((sum, value) => sum + value, 0) / pixels.length;
}

describe('the caption', () => {
  it('is drawn into the frame: another prompt gives another overlay', () => {
    const overlay = (prompt: string): Uint8Array =>
      setCaption({ prompt, facts: 'Swift 1' }, { width: 854, height: 480 }).overlay.data();
    const white = overlay('MMMM').filter((value) => value === 255).length;
    expect(white).toBeGreaterThan(overlay(' ').filter((value) => value === 255).length + 1000);
  });

  it('fits any prompt into the frame', () => {
    const { overlay } = setCaption({ prompt: 'word '.repeat(900), facts: '' }, { width: 480, height: 640 });
    const pixels = overlay.getContext('2d').getImageData(0, 0, 480, 640 * 0.4).data;
    expect(pixels.some((value) => value === 255)).toBe(false);
  });

  const oneEach = (text: string): number => text.length;

  it('breaks lines between words', () => {
    expect(wrapWords(['aa', ' ', 'bb', ' ', 'cc'], 5, oneEach)).toEqual(['aa bb', 'cc']);
  });

  it('breaks a word that is wider than a line', () => {
    expect(wrapWords(['a', ' ', 'bbbbbbb'], 4, oneEach)).toEqual(['a bb', 'bbbb', 'b']);
  });
});
