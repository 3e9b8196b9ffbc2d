import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // By default it is given up after a second, which a busy machine takes for less.
    expect: { poll: { timeout: 15_000 } },
    // Half of the tests wait for a process of their own most of the time.
    maxWorkers: 2,
    reporters: ['default'],
  },
});
