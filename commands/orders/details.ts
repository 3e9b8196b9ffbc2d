import { setCardId } from '#src/chat/index.ts';
import { asOf, isBlind, isContentRemoved, type SetPlace, type Task } from '#src/tasks/index.ts';
import { MEDIA_KINDS, titled } from '#src/videos/index.ts';
import type { Reply } from '../bot-port.ts';
import { type BotPorts, privately } from '../input/subcommand.ts';
import { blindDetailsCard, detailsCard, withSet } from '../sentences/cards/details.ts';
import { setDetailsCard } from '../sentences/cards/task-card.ts';
import { lastFrameOf } from '../sentences/studio/chain.ts';
import { improveButton } from '../sentences/studio/improve.ts';
import { isUndecided } from './task-actions.ts';

/** Shows the details of a set to the caller: of all its tasks together. */
export async function showSetDetails({ chat }: BotPorts, place: SetPlace): Promise<Reply> {
  const [view, message] = await Promise.all([chat.setView(place), chat.messageOf(setCardId(place.id))]);
  return privately(setDetailsCard(view, message));
}

export async function showDetails(ports: BotPorts, task: Task): Promise<Reply> {
  const { ledger, fileBehind, clock, enhancer, chat, catalog } = ports;
  if (isBlind(task)) return privately(blindDetailsCard(task));
  const { media: given, chain } = task.request;
  const place = task.takeOf ?? task.set;
  const fileOf = async (url: string) =>
    url === chain?.frame && place !== undefined
      ? { name: lastFrameOf(place.at - 1), permalink: null }
      : fileBehind(url);
  const media = MEDIA_KINDS.flatMap((kind) => given[kind].map(async (url) => ({ kind, url, file: await fileOf(url) })));
  const card = detailsCard(titled(catalog(), asOf(task, clock.now())), ledger.of(task), await Promise.all(media));
  const isImprovable = enhancer !== null && !isContentRemoved(task) && !isUndecided(task);
  const details = isImprovable ? { ...card, buttons: [improveButton(task.id)] } : card;
  if (place?.kind !== 'storyboard') return privately(details);
  const [view, message] = await Promise.all([chat.setView(place), chat.messageOf(setCardId(place.id))]);
  return privately(withSet(details, { view, message }));
}
