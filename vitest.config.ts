import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Half of the tests wait for a process of their own most of the time.
    maxWorkers: 2,
    reporters: ['default'],
  },
});
