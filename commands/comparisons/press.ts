import { isBlind, type SetPlace, type Task, type TaskId } from '#src/tasks/index.ts';
import type { Caller, Reply } from '../bot-port.ts';
import { type BotPorts, privately, refused } from '../input/subcommand.ts';
import { taskHere } from '../input/task-lookup.ts';
import { mayNotDecideOn } from '../policy/rules-here.ts';
import {
  NO_CLIP_TO_VOTE_FOR,
  NOT_SHOWN_YET,
  REVEALED,
  VOTE_IS_OVER,
  votedSentence,
} from '../sentences/comparisons/words.ts';
import { UNKNOWN_BUTTON } from '../sentences/refusals.ts';
import { textCard } from '../ui/card.ts';
import type { ComparisonPress } from '../ui/comparison-buttons.ts';
import { preferModel } from './prefer.ts';
import { remakeClip } from './remake.ts';

/** Handles a press on a comparison, by anyone who may see it. */
export async function pressComparison(ports: BotPorts, caller: Caller, press: ComparisonPress): Promise<Reply> {
  if (press.action === 'remake') return remakeClip(ports, caller, press);
  const first = await firstHere(ports, caller, press.set);
  if (first === null) return refused(UNKNOWN_BUTTON);
  switch (press.action) {
    case 'vote':
      return vote(ports, caller, first.set, press.at);
    case 'reveal':
      return reveal(ports, caller, first);
    case 'prefer':
      return preferModel(ports, caller, first, press.at);
  }
}

/** Returns the first task of a comparison that the caller may see; `null` for any other id. */
async function firstHere(
  ports: BotPorts,
  caller: Caller,
  set: TaskId,
): Promise<(Task & { readonly set: SetPlace }) | null> {
  const task = await taskHere(ports, caller, set);
  return task?.set?.kind === 'comparison' ? { ...task, set: task.set } : null;
}

async function vote({ chat }: BotPorts, { user }: Caller, place: SetPlace, at: number): Promise<Reply> {
  const outcome = await chat.comparisons.vote(place, user.id, at);
  switch (outcome) {
    case 'no_clip':
      return refused(NO_CLIP_TO_VOTE_FOR);
    case 'not_shown':
      return refused(NOT_SHOWN_YET);
    case 'revealed':
      return refused(VOTE_IS_OVER);
    case 'counted':
    case 'changed':
    case 'same':
      return said(votedSentence(at, outcome));
  }
}

/** Reveals the models for the requester and those who may decide on their clips. */
async function reveal(ports: BotPorts, caller: Caller, first: Task & { readonly set: SetPlace }): Promise<Reply> {
  const refusal = await mayNotDecideOn(ports, caller, first.origin);
  if (refusal !== null) return refused(refusal);
  if (!isBlind(first)) return said(REVEALED);
  return (await ports.chat.comparisons.reveal(first.set)) ? said(REVEALED) : refused(NOT_SHOWN_YET);
}

function said(sentence: string): Reply {
  return privately(textCard([sentence]));
}
