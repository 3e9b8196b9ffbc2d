import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { SlowFirst } from './test/sequencer.ts';

// Inherited by the workers and by every program that a test starts.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('node_modules/.cache/compiled', import.meta.url));

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/compile-cache.ts', 'test/unpacked-browser.ts'],
    testTimeout: 600_000,
    hookTimeout: 600_000,
    // By default it is given up after a second, which a busy machine takes for less.
    expect: { poll: { timeout: 300_000, interval: 25 } },
    // Half of the tests wait for a process of their own most of the time: three keep two cores busy.
    maxWorkers: 3,
    // The files of a worker share what they import: reading it anew for each took half of the time of the unit tests.
    isolate: false,
    sequence: { sequencer: SlowFirst, shuffle: { tests: true } },
    reporters: ['default'],
  },
});
