import { createRequire } from 'node:module';
import { GlobalFonts } from '@napi-rs/canvas';

const require = createRequire(import.meta.url);

/** Font families for the canvas. Glyphs missing in DejaVu (such as CJK) fall back to the machine's fonts, if any. */
export const FONTS = {
  title: 'Dailies Title, Dailies Text, sans-serif',
  text: 'Dailies Text, sans-serif',
} as const;

const FILES = {
  'Dailies Title': 'DejaVuSansCondensed-Bold.ttf',
  'Dailies Text': 'DejaVuSansCondensed.ttf',
} as const;

/** Registers the fonts of the clips; needed once per thread. */
export function loadFonts(): void {
  for (const [family, file] of Object.entries(FILES)) {
    GlobalFonts.registerFromPath(require.resolve(`dejavu-fonts-ttf/ttf/${file}`), family);
  }
}
