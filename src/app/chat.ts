import type { AppDeps } from '../app.ts';
import { ChatEngine, createAttachmentPlanner, createSubscriptions } from '../chat/index.ts';
import { createKeptUntil } from '../clips/index.ts';
import { isSandboxed } from '../config/index.ts';
import { createFfmpegFitter } from '../media/index.ts';
import { BUILT_IN_ADMINS } from '../teams/index.ts';
import type { Parts } from './parts.ts';

/** Creates the chat side of tasks. */
export function createAppChat(
  deps: AppDeps,
  {
    queue,
    pipeline,
    platforms,
    audiences,
    locks,
    durationEstimates,
    money,
    clipLinks: links,
  }: Pick<
    Parts,
    'queue' | 'pipeline' | 'platforms' | 'audiences' | 'locks' | 'durationEstimates' | 'money' | 'clipLinks'
  >,
): ChatEngine {
  const { config, catalog, ffmpeg, logger } = deps;
  return new ChatEngine({
    ...deps,
    repository: pipeline.repository,
    clips: pipeline.clips,
    queue,
    platforms,
    audiences,
    locks,
    durationEstimates,
    subscriptions: createSubscriptions(deps.store),
    links,
    handing: createAttachmentPlanner({ fitter: createFfmpegFitter({ ffmpeg, logger }), links }),
    modelOf: (name) => catalog().models.find((model) => model.name === name),
    observer: deps.metrics.deliveryObserver,
    editIntervalMs: config.progressEditMs,
    deadlineMs: config.poll.deadlineMs,
    slowestPollMs: config.poll.maxMs,
    refundKnown: isSandboxed(config),
    admins: [...config.admins, ...BUILT_IN_ADMINS],
    leftFor: money.leftFor,
    isLabelled: async (team) => (await money.settings.get(team)).aiLabel,
    reviewRules: (team) => money.settings.get(team),
    keptUntil: createKeptUntil({ ...deps, ...money, retention: config.retention }),
  });
}
