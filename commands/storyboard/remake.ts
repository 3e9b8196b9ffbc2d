import { outdatedIn } from '#src/orders/index.ts';
import { isContentRemoved, isSamePrice, type Price, type SetPlace, total } from '#src/tasks/index.ts';
import { checkAgain } from '#src/videos/index.ts';
import type { Caller, Reply } from '../bot-port.ts';
import { type BotPorts, privately, refused } from '../input/subcommand.ts';
import { placedReply, placeOrder } from '../orders/place-order.ts';
import { nextTake } from '../orders/takes.ts';
import { orderPrice } from '../orders/what-fits.ts';
import { mayNotDecideOn } from '../policy/rules-here.ts';
import { all } from '../sentences/format.ts';
import { CHAINED_ELSEWHERE } from '../sentences/studio/chain.ts';
import { textCard } from '../ui/card.ts';

/** Refuses to make outdated shots again that are not those of the button, or not at its price. */
const OUTDATED_CHANGED = 'The board has changed. Nothing was bought; its button shows the shots and the price now.';

/**
 * Makes the shots of a storyboard again that start with an earlier take, each as its **Retry** would, for the price on the
 * button. Each waits for the take of the shot before that the same press ordered.
 */
export async function remakeOutdated(ports: BotPorts, caller: Caller, place: SetPlace, offered: Price): Promise<Reply> {
  const shots = outdatedIn(await ports.boards.get(place));
  const originals = shots.map(({ chosen, takes }) => takes.find((task) => !isContentRemoved(task)) ?? chosen);
  const orders = originals.flatMap((task) => {
    const checked = checkAgain(ports.catalog(), task.request);
    return checked.ok ? [{ task, checked, price: orderPrice(checked) }] : [];
  });
  const [{ task: first } = {}] = orders;
  if (first === undefined || orders.length < shots.length) return refused(OUTDATED_CHANGED);
  const refusal = await mayNotDecideOn(ports, caller, first.origin);
  if (refusal !== null) return refused(refusal);
  if (caller.channel !== first.origin.channel) return refused(CHAINED_ELSEWHERE);
  const [sum] = total(orders.map(({ price }) => price));
  if (sum === undefined || !isSamePrice(sum, offered)) return refused(OUTDATED_CHANGED);
  const { acknowledged, ...later } = { ...caller, address: ports.chat.lastingAddress(caller.platform, caller.address) };
  for (const { task, checked, price } of orders) {
    const buyer = { ...later, shown: { price }, ...(task === first && acknowledged ? { acknowledged } : {}) };
    const take = await nextTake(ports, caller, `retry:${task.id}`);
    const placed = await placeOrder(ports, buyer, checked, { ...take, retryOf: task.id });
    if (!placed.ok) return placedReply(placed);
  }
  return privately(textCard([madeAgain(shots.map(({ at }) => at))]));
}

/** Says that outdated shots are made again. */
function madeAgain(shots: readonly number[]): string {
  return `${shots.length === 1 ? 'Shot' : 'Shots'} ${all(shots.map(String))} ${shots.length === 1 ? 'is' : 'are'} being made again.`;
}
