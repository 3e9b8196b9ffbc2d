import type { EnhancerFailure } from '#src/enhancer/index.ts';
import { type Draft, taskIdOf } from '#src/pipeline/index.ts';
import { isBlind, isContentRemoved, type Task } from '#src/tasks/index.ts';
import { asTyped, checkRequest, draftOfRequest, withStyle } from '#src/videos/index.ts';
import type { Caller, Reply } from '../bot-port.ts';
import { type BotPorts, privately, refused } from '../input/subcommand.ts';
import { mayNotCreateHere } from '../policy/rules-here.ts';
import { BLIND_UNTIL_REVEAL } from '../sentences/cards/comparison.ts';
import { UNDECIDED, UNKNOWN_BUTTON } from '../sentences/refusals.ts';
import { PROMPT_REMOVED } from '../sentences/removal.ts';
import { askBeforeShowing, draftOf, hasOnePrompt, offerOf } from './offers.ts';
import { isUndecided } from './task-actions.ts';

/** Largest length of an improved prompt in characters: shown whole on every platform, beside the original. */
const MAX_SHOWN = 1_500;

/** Reply where prompts can no longer be improved. */
const NO_ENHANCER = 'Improving prompts is turned off here.';

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
  if (!enhanced.ok) return refused(`${REASONS[enhanced.reason]} Your prompt is unchanged, and nothing was started.`);
  const { prompt } = enhanced;
  if (prompt === original.trim())
    return refused('There is nothing to improve: the suggestion is the same as your prompt.');
  const { interaction: _interaction, alternative: _alternative, command: _command, ...order } = draft;
  const id = taskIdOf(`${draft.key}#improved:${prompt}`);
  const improved = await drafts.save({ ...order, id, request: withStyle(ports.catalog(), { ...typed, prompt }) });
  await drafts.save({ ...draft, alternative: id });
  const reason = { kind: 'improved', original, improved: prompt } as const;
  return privately(await offerOf(ports, caller, draft, { reason, other: improved.draft }));
}

const REASONS: Readonly<Record<EnhancerFailure, string>> = {
  busy: 'I’m still improving another prompt of yours.',
  timed_out: 'The service that improves prompts didn’t answer within 15 s.',
  unavailable: 'The service that improves prompts can’t be reached right now. Try again later.',
  unauthorised: 'The service that improves prompts refused my token. Ask an administrator to check ENHANCER_TOKEN.',
  rate_limited: 'The service that improves prompts is busy. Try again in a minute.',
  failed: 'The service that improves prompts refused the request. Ask an administrator to check its settings.',
  bad_answer: 'The service that improves prompts gave an answer that I can’t read.',
  empty: 'The service that improves prompts gave an empty answer.',
  cut_off: 'The improved prompt was cut off.',
  withheld: 'The service that improves prompts declined to rewrite this one.',
  too_long: 'The improved prompt was too long.',
};
