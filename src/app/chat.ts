import type { AppDeps } from '../app.ts';
import { AttachmentPlanner, ChatEngine, Subscriptions } from '../chat/index.ts';
import { createKeptUntil } from '../clips/index.ts';
import { isSandboxed } from '../config/index.ts';
import { createFfmpegFitter } from '../media/index.ts';
import { priceOf } from '../tasks/index.ts';
import { allowedCatalog, BUILT_IN_ADMINS, NO_POLICY, rulesAt, valueRules } from '../teams/index.ts';
import { modelFingerprint, requestElsewhere } from '../videos/index.ts';
import type { Parts } from './parts.ts';

/** Creates the chat side of tasks. */
export function createAppChat(
  deps: AppDeps,
  {
    queue,
    pipeline,
    platforms,
    locks,
    durationEstimates,
    money,
    clipLinks: links,
  }: Pick<Parts, 'queue' | 'pipeline' | 'platforms' | 'locks' | 'durationEstimates' | 'money' | 'clipLinks'>,
): ChatEngine {
  const { config, catalog, ffmpeg, logger } = deps;
  return new ChatEngine({
    ...deps,
    repository: pipeline.repository,
    clips: pipeline.clips,
    queue,
    platforms,
    locks,
    durationEstimates,
    subscriptions: new Subscriptions(deps.store),
    handing: new AttachmentPlanner({ fitter: createFfmpegFitter({ ffmpeg, logger }), links }),
    modelOf: (name) => catalog().models.find((model) => model.name === name),
    elsewhere: async ({ origin, request }) => {
      const { policy = NO_POLICY } = await money.settings.get(origin);
      const found = requestElsewhere(allowedCatalog(catalog(), valueRules(rulesAt(policy, origin))), request);
      if (found === null) return null;
      const { model } = found;
      return { model: modelFingerprint(model), title: model.title, price: priceOf(model, request.seconds) };
    },
    observer: deps.metrics.deliveryObserver,
    editIntervalMs: config.progressEditMs,
    deadlineMs: config.poll.deadlineMs,
    slowestPollMs: config.poll.maxMs,
    refundKnown: isSandboxed(config),
    admins: [...config.admins, ...BUILT_IN_ADMINS],
    forApprovers: { leftFor: money.leftFor, pictureOf: (task) => links.forRequest(task) },
    settingsOf: (team) => money.settings.get(team),
    keptUntil: createKeptUntil({ ...deps, ...money, retention: config.retention }),
  });
}
