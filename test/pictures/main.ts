/**
 * `npm run pictures`: regenerates the README's pictures in `docs/`. With names, only those. Each picture is one
 * entry of `PICTURES`.
 */
import { stat } from 'node:fs/promises';
import { join, parse } from 'node:path';
import type { Browser } from 'playwright-core';
import { launchBrowser } from '../fakes/browser.ts';
import { approval } from './approval.ts';
import { budget } from './budget.ts';
import { compare } from './compare.ts';
import { discord } from './discord.ts';
import { gallery } from './gallery.ts';
import { improve } from './improve.ts';
import { library } from './library.ts';
import { playground } from './playground.ts';
import { policy } from './policy.ts';
import { report } from './report.ts';
import { review } from './review.ts';
import { slack } from './slack.ts';
import { storyboard } from './storyboard.ts';
import { styles } from './styles.ts';
import { takes } from './takes.ts';

/** Picture of the README. */
export interface Picture {
  /** File name in `docs/`; without its extension, the name that `npm run pictures` accepts. */
  readonly file: string;
  /** Renders it with a browser and writes it to `path`. */
  readonly make: (browser: Browser, path: string) => Promise<void>;
}

const PICTURES: readonly Picture[] = [
  playground,
  takes,
  compare,
  storyboard,
  review,
  styles,
  library,
  improve,
  gallery,
  budget,
  approval,
  policy,
  report,
  discord,
  slack,
];

const DOCS = join(import.meta.dirname, '../../docs');

async function main(given: readonly string[]): Promise<number> {
  const names = PICTURES.map(({ file }) => parse(file).name);
  const unknown = given.filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    process.stderr.write(`Unknown picture ${unknown.join(', ')}. Available: ${names.join(', ')}\n`);
    return 2;
  }
  const browser = await launchBrowser();
  try {
    for (const { file, make } of PICTURES) {
      if (given.length > 0 && !given.includes(parse(file).name)) continue;
      const path = join(DOCS, file);
      await make(browser, path);
      process.stdout.write(`docs/${file}: ${Math.round((await stat(path)).size / 1024)} KB\n`);
    }
  } finally {
    await browser.close();
  }
  return 0;
}

process.exitCode = await main(process.argv.slice(2));
