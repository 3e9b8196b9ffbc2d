import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { ffmpeg, inFolder } from './ffmpeg.ts';

/** Lossy quality of the pictures, 0 to 100: keeps text sharp and the file small. */
const QUALITY = 75;

/** Collects the frames of an animation with their durations, and writes them as an animated WebP. */
export class Reel {
  readonly #frames: { readonly png: Buffer; durationMs: number }[] = [];

  /** Adds a screenshot of a page for `durationMs`; an unchanged one only extends the last frame. */
  async show(page: Page, durationMs: number): Promise<void> {
    const png = await page.screenshot({ caret: 'initial', timeout: 0 });
    const last = this.#frames.at(-1);
    if (last?.png.equals(png)) last.durationMs += durationMs;
    else this.#frames.push({ png, durationMs });
  }

  /** Writes the animation to `path`. */
  async write(path: string): Promise<void> {
    await inFolder(async (dir) => {
      const names = this.#frames.map((_, index) => `${index}.png`);
      await Promise.all(this.#frames.map(({ png }, index) => writeFile(join(dir, `${index}.png`), png)));
      const lines = this.#frames.flatMap(({ durationMs }, index) => [
        `file '${names[index]}'`,
        `duration ${durationMs / 1000}`,
      ]);
      // The last duration of the list only counts if its file is listed once more.
      await writeFile(join(dir, 'list.txt'), [...lines, `file '${names.at(-1)}'`].join('\n'));
      const output = ['-c:v', 'libwebp_anim', '-lossless', '0', '-q:v', String(QUALITY), '-compression_level', '6'];
      await ffmpeg(['-f', 'concat', '-i', join(dir, 'list.txt'), '-vsync', 'vfr', ...output, '-loop', '0', path]);
    });
  }
}
