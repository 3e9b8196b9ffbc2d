export { createAppBot } from './bot.ts';
export { createAppChat } from './chat.ts';
export { createCuts } from './cuts.ts';
export { connectionsOf, greet } from './greeting.ts';
export { drainTimeoutMs, orderOf, type Part, type Parts, type Started } from './parts.ts';
export { createVideos, openAppQueue, pipelineSettingsOf } from './services.ts';
