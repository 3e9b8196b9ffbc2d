import {
  comparisonOf,
  isBlind,
  labelAt,
  type SetPlace,
  spendChannel,
  type Task,
  type TaskId,
} from '#src/tasks/index.ts';
import type { Caller, Reply } from '../bot-port.ts';
import { type BotPorts, privately, refused } from '../input/subcommand.ts';
import { taskHere } from '../input/task-lookup.ts';
import { mayNotDecideOn } from '../policy/rules-here.ts';
import { BLIND_UNTIL_REVEAL, MANAGERS_SET_DEFAULT, NOT_SHOWN_YET } from '../sentences/cards/comparison.ts';
import { refusalSentence, UNKNOWN_BUTTON } from '../sentences/refusals.ts';
import type { ComparisonPress } from '../ui/buttons.ts';
import { textCard } from '../ui/card.ts';
import { orderBlindRetry } from './remake.ts';

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

/** Handles a press on the retry of a blind clip. */
async function remakeClip(
  ports: BotPorts,
  caller: Caller,
  { clip, upTo, isConfirmed }: Extract<ComparisonPress, { readonly action: 'remake' }>,
): Promise<Reply> {
  const task = await taskHere(ports, caller, clip);
  if (task === undefined || comparisonOf(task) === null) return refused(UNKNOWN_BUTTON);
  if (!isBlind(task)) return refused(BLIND_UNTIL_REVEAL);
  return orderBlindRetry(ports, caller, task, isConfirmed ? upTo : null);
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
      return refused('That clip isn’t there, so it can’t be voted for.');
    case 'not_shown':
      return refused(NOT_SHOWN_YET);
    case 'revealed':
      return refused('The models are revealed, so the vote is over.');
    case 'counted':
    case 'changed':
    case 'same':
      return said(votedSentence(at, outcome));
  }
}

function votedSentence(at: number, outcome: 'counted' | 'changed' | 'same'): string {
  const label = `clip ${labelAt(at)}`;
  if (outcome === 'same') return `You already voted for ${label}. You can change your vote until the reveal.`;
  const done = outcome === 'counted' ? 'You voted for' : 'You changed your vote to';
  return `${done} ${label}. You can change it until the reveal.`;
}

const REVEALED = 'The models are revealed.';

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

/** Makes the model of a clip the default of the comparison's channel, for those who manage it. */
async function preferModel(
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
  if (isBlind(entry)) return refused('The models aren’t revealed yet.');
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
  return said(
    `${model.title} is this channel’s default now. Personal defaults take precedence; /video defaults shows both.`,
  );
}
