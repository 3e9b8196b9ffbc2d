import { createBot } from '#commands/bot.ts';
import type { Bot } from '#commands/bot-port.ts';
import { createSpendingRules } from '#commands/money/spending-rules.ts';
import type { AppDeps } from '../app.ts';
import { isSandboxed } from '../config/index.ts';
import { createEnhancer } from '../enhancer/index.ts';
import { createMarksOf } from '../media/index.ts';
import { Approvals } from '../money/index.ts';
import { Boards } from '../orders/index.ts';
import { Drafts, ledgerPages } from '../pipeline/index.ts';
import { STEERING } from '../sandbox/index.ts';
import type { ClipStorage } from '../storage/index.ts';
import { Reviews } from '../studio/index.ts';
import { PersonalDefaults, References } from '../teams/index.ts';
import { createReferenceCheck, keptBytes, serviceNamed, type VideoRequest } from '../videos/index.ts';
import type { Parts } from './parts.ts';

type BotParts = Pick<
  Parts,
  | 'pipeline'
  | 'chat'
  | 'cuts'
  | 'money'
  | 'statements'
  | 'teamNotices'
  | 'queue'
  | 'foreground'
  | 'gallery'
  | 'library'
  | 'clipLinks'
> & { readonly storage: Pick<ClipStorage, 'pathOf'>; readonly assertWritable: () => Promise<void> };

/** Creates the bot behind the commands. */
export function createAppBot(deps: AppDeps, parts: BotParts): Bot {
  const { pipeline, chat, cuts, money, statements, teamNotices, foreground, gallery, library, clipLinks } = parts;
  const { config, store, relay, services, clock, logger, metrics } = deps;
  const { improved } = metrics;
  const { enhancer, links: { publicUrl } = {} } = config;
  const baseUrlOf = (request: Pick<VideoRequest, 'service'>) => serviceNamed(services(), request)?.baseUrl;
  return createBot(
    {
      ...deps,
      tasks: pipeline.tasks,
      frames: pipeline.frames,
      chat,
      cuts,
      ledger: (scope, month) => ledgerPages(store, scope, month),
      notices: teamNotices.notices,
      ...money,
      drafts: new Drafts(store, clock),
      boards: new Boards(store),
      approvals: new Approvals({ ...deps, ...parts, ...money, repository: pipeline.repository }),
      subscriptions: chat.parts.subscriptions,
      statements,
      gallery,
      reviews: new Reviews({ ...deps, ...pipeline }),
      ...library,
      defaults: new PersonalDefaults(store),
      enhancer: enhancer === undefined ? null : createEnhancer(enhancer, { clock, logger, improved }),
      references: new References(store, clock),
      libraryFiles: relay.libraryFiles(parts.assertWritable),
      admins: config.admins,
      refunds: config.refunds,
      renewed: (url) => relay.renew(url),
      checkReferences: createReferenceCheck({
        baseUrlOf,
        keptBytesOf: (request, kind) => Math.max(...keptBytes(services(), kind, request)),
        sizeOf: async (address) => (await relay.fileOf(address))?.bytes,
        publicUrl,
        clock,
        logger,
      }),
      fileBehind: (url) => relay.describe(url),
      pictures: clipLinks,
      marksOf: createMarksOf(parts.storage),
      steering: isSandboxed(config) ? STEERING : [],
      spendingRules: createSpendingRules({ ...money, clock }),
      limitReached: metrics.limitReached,
      overBudget: metrics.overBudget,
      dataFull: metrics.dataFull,
    },
    (work) => foreground.run(work),
  );
}
