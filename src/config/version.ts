import { readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string;
};

/** Version of Dailies that is running: the one in `package.json`. */
export const VERSION = manifest.version;
