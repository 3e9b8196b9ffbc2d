export { instrumentPlatforms, instrumentStore, instrumentVideos } from './calls.ts';
export { createMetrics, type Metrics } from './metrics.ts';
