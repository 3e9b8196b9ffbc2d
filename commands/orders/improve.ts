import { type Draft, taskIdOf } from '#src/pipeline/index.ts';
import { isBlind, isContentRemoved, type Task } from '#src/tasks/index.ts';
import { asTyped, checkRequest, draftOfRequest, withStyle } from '#src/videos/index.ts';
import type { Caller, Reply } from '../bot-port.ts';
import { type BotPorts, privately, refused } from '../input/subcommand.ts';
import { mayNotCreateHere } from '../policy/rules-here.ts';
import { BLIND_UNTIL_REVEAL } from '../sentences/comparisons/words.ts';
import { UNDECIDED, UNKNOWN_BUTTON } from '../sentences/refusals.ts';
import { PROMPT_REMOVED } from '../sentences/removal.ts';
import { NO_ENHANCER, NOTHING_TO_IMPROVE, notImproved } from '../sentences/studio/improve.ts';
import { askBeforeShowing, draftOf, hasOnePrompt, offerOf } from './offers.ts';
import { isUndecided } from './task-actions.ts';

/** Largest length of an improved prompt in characters: shown whole on every platform, beside the original. */
const MAX_SHOWN = 1_500;

/**
 * Improves the prompt of a task, as an order of the caller's own: nothing is bought. In another channel than that of a
 * private task, the caller is asked first, and may improve the prompt from there.
 */
export async function improveTask(ports: BotPorts, caller: Caller, task: Task): Promise<Reply> {
  if (ports.enhancer === null) return refused(NO_ENHANCER);
  if (isContentRemoved(task)) return refused(PROMPT_REMOVED);
  if (isBlind(task)) return refused(BLIND_UNTIL_REVEAL);
  if (isUndecided(task)) return refused(UNDECIDED);
  const refusal = await mayNotCreateHere(ports, caller);
  if (refusal !== null) return refused(refusal);
  const question = await askBeforeShowing(ports, caller, task);
  if (question !== null) return question;
  const { draft } = await ports.drafts.save(
    draftOf(caller, { request: draftOfRequest(task.request), retryOf: task.id }),
  );
  return improveDraft(ports, caller, draft);
}

/**
 * Has the prompt of a draft rewritten, and shows both with their prices. The improved one is a draft of its own under the same
 * key, so that one of the two becomes a task. Its id is derived from its text: a button orders what its message shows.
 */
export async function improveDraft(ports: BotPorts, caller: Caller, draft: Draft): Promise<Reply> {
  const { enhancer, drafts } = ports;
  if (enhancer === null) return refused(NO_ENHANCER);
  const refusal = await mayNotCreateHere(ports, caller);
  if (refusal !== null) return refused(refusal);
  const { request } = draft;
  if (!hasOnePrompt(request)) return refused(UNKNOWN_BUTTON);
  // The style is applied again to the improved prompt.
  const typed = asTyped(request);
  const { prompt: original = '' } = typed;
  const checked = checkRequest(ports.catalog(), request);
  const maxLength = Math.min(MAX_SHOWN, checked.ok ? checked.model.promptMaxLength : MAX_SHOWN);
  const person = `${caller.platform}:${caller.team}:${caller.user.id}`;
  const enhanced = await enhancer.enhance({ prompt: original, maxLength, person });
  if (!enhanced.ok) return refused(notImproved(enhanced.reason));
  const { prompt } = enhanced;
  if (prompt === original.trim()) return refused(NOTHING_TO_IMPROVE);
  const { interaction: _interaction, alternative: _alternative, command: _command, ...order } = draft;
  const id = taskIdOf(`${draft.key}#improved:${prompt}`);
  const improved = await drafts.save({ ...order, id, request: withStyle(ports.catalog(), { ...typed, prompt }) });
  await drafts.save({ ...draft, alternative: id });
  const reason = { kind: 'improved', original, improved: prompt } as const;
  return privately(await offerOf(ports, caller, draft, { reason, other: improved.draft }));
}
