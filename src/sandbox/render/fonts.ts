import { createRequire } from 'node:module';
import { GlobalFonts } from '@napi-rs/canvas';

const require = createRequire(import.meta.url);

/** Font families as the canvas takes them; what DejaVu lacks (such as CJK) comes from the machine's fonts, if any. */
export const FONTS = {
  title: 'Dailies Title, Dailies Text, sans-serif',
  text: 'Dailies Text, sans-serif',
} as const;

const FILES = {
  'Dailies Title': 'DejaVuSansCondensed-Bold.ttf',
  'Dailies Text': 'DejaVuSansCondensed.ttf',
} as const;

/** Loads the fonts of the clips; once per thread is enough. */
export function loadFonts(): void {
  for (const [family, file] of Object.entries(FILES)) {
    GlobalFonts.registerFromPath(require.resolve(`dejavu-fonts-ttf/ttf/${file}`), family);
  }
}
