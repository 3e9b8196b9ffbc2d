import { isBlind, type SetPlace, spendChannel, type Task } from '#src/tasks/index.ts';
import type { Caller, Reply } from '../bot-port.ts';
import { type BotPorts, privately, refused } from '../input/subcommand.ts';
import { MANAGERS_SET_DEFAULT, preferredSentence, REVEAL_FIRST } from '../sentences/comparisons/words.ts';
import { refusalSentence, UNKNOWN_BUTTON } from '../sentences/refusals.ts';
import { textCard } from '../ui/card.ts';

/** Makes the model of a clip the default of the comparison's channel, for those who manage it. */
export async function preferModel(
  ports: BotPorts,
  caller: Caller,
  { set, origin }: Task & { readonly set: SetPlace },
  at: number,
): Promise<Reply> {
  const channel = spendChannel(origin);
  const manages = caller.mayAdminister || (caller.mayManage && spendChannel(caller) === channel);
  if (!manages) return refused(MANAGERS_SET_DEFAULT);
  const entry = (await ports.chat.comparisons.entries(set))[at - 1];
  if (entry === undefined) return refused(UNKNOWN_BUTTON);
  if (isBlind(entry)) return refused(REVEAL_FIRST);
  const { models } = ports.catalog();
  const model = models.find(({ name }) => name === entry.request.model);
  if (model === undefined) {
    const allowed = models.map(({ name }) => name);
    return refused(
      refusalSentence({ reason: 'unknown_model', option: 'model', given: entry.request.model, allowed }, caller.fields),
    );
  }
  const actor = { person: caller.user, surface: 'button' } as const;
  await ports.settings.change(origin, actor, ({ channelModels }) => ({
    channelModels: { ...channelModels, [channel]: model.name },
  }));
  return privately(textCard([preferredSentence(model.title)]));
}
