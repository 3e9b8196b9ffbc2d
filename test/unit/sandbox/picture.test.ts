import { beforeAll, describe, expect, it } from 'vitest';
import { loadFonts } from '#src/sandbox/render/fonts.ts';
import { frameSize, type RenderJob } from '#src/sandbox/render/job.ts';
import { createPainter } from '#src/sandbox/render/painter.ts';
import { sceneOf } from '#src/sandbox/render/scene.ts';
import { setCaption, wrapWords } from '#src/sandbox/render/title.ts';
import { difference, type Picture } from '#test/fakes/decoded.ts';

const JOB: RenderJob = {
  prompt: 'a fox',
  title: 'Swift 1',
  seconds: 4,
  aspectRatio: '16:9',
  resolution: '480p',
  images: [],
  isLoopbackAllowed: false,
  otherReferences: 0,
  path: '',
  failMidway: false,
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

describe('the scene of a prompt', () => {
  it('is the same for the same prompt', () => {
    expect(sceneOf('a fox in snow')).toEqual(sceneOf('a fox in snow'));
    expect(difference(paint({}), paint({}))).toBe(0);
  });

  it('differs for another prompt', () => {
    expect(difference(paint({ prompt: 'quiet thoughts' }), paint({ prompt: 'loud thoughts' }))).toBeGreaterThan(10);
  });

  it('moves', () => {
    expect(difference(paint({}, 0), paint({}, 2))).toBeGreaterThan(1);
  });
});

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
