import { asOf } from '#src/tasks/approval.ts';
import { isBlind } from '#src/tasks/comparisons/blind.ts';
import { isContentRemoved } from '#src/tasks/removal.ts';
import type { Task } from '#src/tasks/task.ts';
import { MEDIA_KINDS } from '#src/videos/request.ts';
import type { Reply } from '../bot-port.ts';
import { type BotPorts, privately } from '../input/subcommand.ts';
import { blindDetailsCard, detailsCard } from '../sentences/cards/details.ts';
import { lastFrameOf } from '../sentences/studio/chain.ts';
import { improveButton } from '../sentences/studio/improve.ts';
import { isUndecided } from './task-actions.ts';

/** Shows the details of a task to the caller. */
export async function showDetails({ ledger, fileBehind, clock, enhancer }: BotPorts, task: Task): Promise<Reply> {
  if (isBlind(task)) return privately(blindDetailsCard(task));
  const { media: given, chain } = task.request;
  const place = task.takeOf ?? task.set;
  const fileOf = async (url: string) =>
    url === chain?.frame && place !== undefined
      ? { name: lastFrameOf(place.at - 1), permalink: null }
      : fileBehind(url);
  const media = MEDIA_KINDS.flatMap((kind) => given[kind].map(async (url) => ({ kind, url, file: await fileOf(url) })));
  const card = detailsCard(asOf(task, clock.now()), ledger.of(task), await Promise.all(media));
  const isImprovable = enhancer !== null && !isContentRemoved(task) && !isUndecided(task);
  return privately(isImprovable ? { ...card, buttons: [improveButton(task.id)] } : card);
}
