import {
  formatTimecode,
  hasReview,
  lastDecision,
  leadingTimecode,
  MAX_DECISIONS,
  NOTE_LENGTH,
  parseTimecode,
  type ReviewDecision,
  type ReviewNote,
  type Task,
  versionOf,
} from '#src/tasks/index.ts';
import type { TeamSettings } from '#src/teams/index.ts';
import type { Caller, FieldProblem, Reply } from '../bot-port.ts';
import { type BotPorts, privately, refused, refusedWith, teamOf } from '../input/subcommand.ts';
import { visibleAmong } from '../input/task-lookup.ts';
import { mayNotReview } from '../policy/rules-here.ts';
import { count, formatCount, quoted } from '../sentences/format.ts';
import { removedSentence } from '../sentences/removal.ts';
import { button, type ReviewPress } from '../ui/buttons.ts';
import { type Card, type CardButton, type Line, layOut, textCard } from '../ui/card.ts';
import { field, formReply } from '../ui/form-ids.ts';

/** Handles a press on **Sign off** or **Request changes**. */
export function pressReview(ports: BotPorts, caller: Caller, task: Task, press: ReviewPress): Promise<Reply> {
  return press.action === 'sign_off'
    ? signOff(ports, caller, task, press)
    : openChangesForm(ports, caller, task, press.after);
}

/** Signs a clip off. Asks once if there is a newer version that the reviewer may see and was not asked about. */
async function signOff(
  ports: BotPorts,
  caller: Caller,
  task: Task,
  { after, newest: asked }: ReviewPress & { readonly action: 'sign_off' },
): Promise<Reply> {
  const found = await reviewable(ports, caller, task);
  if ('reply' in found) return found.reply;
  const { rules } = found;
  if (!rules.signOffOwn && caller.user.id === task.origin.user.id)
    return refused('This is your own clip. In this team, someone else signs it off.');
  const isStale = (task.review?.length ?? 0) !== after;
  const [newest] = isStale ? [] : visibleAmong(caller, await ports.reviews.newer(task));
  if (newest !== undefined && versionOf(newest) > (asked ?? 0))
    return privately(newerVersionCard(ports, task, { newest, after }));
  const decision = { kind: 'signed_off', by: caller.user, atMs: ports.clock.now() } as const;
  return decide(ports, { caller, task, after, decision }, async (now) =>
    privately(signedOffReply(now, destinationOf(now, rules))),
  );
}

/** Asks whether to sign off a version although there is a newer one. */
function newerVersionCard(
  { pictures }: Pick<BotPorts, 'pictures'>,
  task: Task,
  { newest, after }: { readonly newest: Task; readonly after: number },
): Card {
  const strip = pictures.forPoster(newest, true);
  const isDone = newest.clip !== undefined;
  const this_ = versionWords(task);
  const press = { action: 'sign_off', task: task.id, after, newest: versionOf(newest) } as const;
  return layOut(
    [
      [
        { strong: `Sign off ${this_}?` },
        ` There is a newer version, ${versionWords(newest)}${isDone ? '' : ', which is still being made'}.`,
      ],
      strip && { kind: 'picture', picture: { ...strip, alt: `Frames of ${versionWords(newest)}` } },
    ],
    { buttons: [button(press, `Sign off ${this_}`, 'primary')] },
  );
}

function versionWords(task: Task): string {
  return `v${versionOf(task)}`;
}

type SignedOffTo =
  /** It is posted in the team's channel for signed-off clips. */
  | { readonly kind: 'posted'; readonly channel: string }
  /** Only its own channel may see it. */
  | { readonly kind: 'private' }
  | { readonly kind: 'none' };

function signedOffReply(task: Task, to: SignedOffTo): Card {
  const done = `Signed off ${versionWords(task)}.`;
  if (to.kind === 'posted') return textCard([`${done} It’s posted in `, { channel: to.channel }, '.']);
  return textCard([
    to.kind === 'private' ? `${done} It stays here: clips of a private channel aren’t posted elsewhere.` : done,
  ]);
}

async function openChangesForm(ports: BotPorts, caller: Caller, task: Task, after: number): Promise<Reply> {
  const found = await reviewable(ports, caller, task);
  if ('reply' in found) return found.reply;
  if ((task.review?.length ?? 0) !== after) return privately(decidedBefore(task));
  const words = { title: 'Request changes', submit: 'Request changes' };
  return formReply({ form: 'changes', task: task.id, after }, words, [
    field('at', 'Time in the clip, such as 0:03', { maxLength: 20 }),
    field('note', 'What should change?', { required: true, long: true, maxLength: NOTE_LENGTH }),
  ]);
}

/** Tells who decided since the reviewer saw the clip, with the buttons of the present state. */
function decidedBefore(task: Task): Card {
  const last = lastDecision(task);
  const what = last?.kind === 'signed_off' ? 'signed this clip off' : 'requested changes';
  const who: Line = last === undefined ? ['Someone'] : [{ person: last.by }];
  const line: Line = ['Someone already decided this: ', ...who, ` ${what}. Nothing was changed.`];
  return layOut([line], { buttons: reviewButtonsOf(task) });
}

/** Returns the buttons of a clip's review as it stands. */
function reviewButtonsOf(task: Task): readonly CardButton[] {
  const after = task.review?.length ?? 0;
  const changes = button({ action: 'changes', task: task.id, after }, 'Request changes');
  if (lastDecision(task)?.kind === 'signed_off') return [changes];
  return [button({ action: 'sign_off', task: task.id, after, newest: null }, 'Sign off', 'primary'), changes];
}

/** Handles the submission of the form for what should change. */
export async function submitChanges(
  ports: BotPorts,
  caller: Caller,
  task: Task,
  { after, values }: { readonly after: number; readonly values: Readonly<Record<string, string>> },
): Promise<Reply> {
  const found = await reviewable(ports, caller, task);
  if ('reply' in found) return found.reply;
  const typed = (values['note'] ?? '').replace(/\r\n?/gu, '\n').trim().toWellFormed();
  const read = readNote(typed, (values['at'] ?? '').trim(), task.request.seconds);
  if ('problem' in read) {
    // Discord's forms do not stay open.
    const refusal = refusedWith([read.problem]);
    // The note is given back, so that it need not be written again.
    const sentence = typed === '' ? refusal.sentence : `${refusal.sentence}\nYour note: ${typed}`;
    return { ...refusal, sentence, buttons: [button({ action: 'changes', task: task.id, after }, 'Edit again')] };
  }
  const decision = { kind: 'changes_requested', by: caller.user, atMs: ports.clock.now(), note: read.note } as const;
  return decide(ports, { caller, task, after, decision }, async (now) => {
    const notified = caller.user.id === now.origin.user.id ? '' : ' Its requester is notified.';
    return privately(textCard([`Requested changes to ${versionWords(now)}.${notified}`]));
  });
}

/** Reads a note with its time, which may begin the note itself. */
function readNote(
  typed: string,
  at: string,
  seconds: number,
): { readonly note: ReviewNote } | { readonly problem: FieldProblem } {
  const problem = (field: string, sentence: string) => ({ problem: { field, sentence } });
  if (typed === '') return problem('note', 'Write what should change.');
  if (typed.length > NOTE_LENGTH) {
    const most = count(NOTE_LENGTH, 'character');
    return problem('note', `The note has ${formatCount(typed.length)} characters. Shorten it to ${most}.`);
  }
  const entered = at === '' ? null : parseTimecode(/^[\d.,]+$/u.test(at) ? `${at} s` : at);
  if (at !== '' && entered === null)
    return problem('at', `${quoted(at, 40)} isn’t a time in the clip. Write minutes and seconds, such as 0:03.`);
  const leading = leadingTimecode(typed);
  const atSeconds = entered ?? leading.atSeconds;
  if (atSeconds === null) return { note: { text: typed } };
  if (atSeconds > seconds) return problem(entered === null ? 'note' : 'at', afterTheEnd(atSeconds, seconds));
  // A time of its own in the note is part of the note, unless it is the same.
  const text = entered === null || leading.atSeconds === entered ? leading.text : typed;
  return { note: { text, atSeconds } };
}

function afterTheEnd(atSeconds: number, seconds: number): string {
  return `${formatTimecode(atSeconds)} is after the end of this clip. It was ordered with ${seconds} s: write a time up to ${formatTimecode(seconds)}.`;
}

const NOT_REVIEWABLE = 'This clip can’t be reviewed: it isn’t there.';

/** Records a decision; tells who came first where another one did. */
async function decide(
  ports: BotPorts,
  {
    caller,
    task,
    after,
    decision,
  }: {
    readonly caller: Caller;
    readonly task: Task;
    readonly after: number;
    readonly decision: ReviewDecision;
  },
  reply: (task: Task) => Promise<Reply>,
): Promise<Reply> {
  const { done, task: now } = await ports.reviews.decide(task, decision, after);
  if (done || isRepeated(now, decision, { after, user: caller.user.id })) return reply(now);
  if ((now.review?.length ?? 0) >= MAX_DECISIONS && now.review?.length === after)
    return refused(`This clip has ${MAX_DECISIONS} notes already. Make a new version with Edit & retry.`);
  return now.clip === undefined ? refused(NOT_REVIEWABLE) : privately(decidedBefore(now));
}

/** Returns whether the decision that counts is this one, of an earlier delivery of the same press or form. */
function isRepeated(
  task: Task,
  { kind, note }: ReviewDecision,
  { after, user }: { readonly after: number; readonly user: string },
): boolean {
  const last = lastDecision(task);
  if (last === undefined || task.review?.length !== after + 1) return false;
  return last.kind === kind && last.by.id === user && last.note?.text === note?.text;
}

/** Returns the team's rules if the caller may review a clip now; otherwise the reply. */
async function reviewable(
  ports: BotPorts,
  caller: Caller,
  task: Task,
): Promise<{ readonly rules: TeamSettings } | { readonly reply: Reply }> {
  if (task.removal !== undefined) return { reply: refused(removedSentence(task)) };
  if (task.state !== 'completed' || task.clip === undefined) return { reply: refused(NOT_REVIEWABLE) };
  const rules = await ports.settings.get(teamOf(caller));
  if (!hasReview(rules, task.origin)) return { reply: refused('Reviews are off in this clip’s channel.') };
  const forbidden = await mayNotReview(ports, caller, task.origin);
  return forbidden === null ? { rules } : { reply: refused(forbidden) };
}

function destinationOf({ origin }: Task, { signedOffChannel: channel }: TeamSettings): SignedOffTo {
  if (channel === undefined) return { kind: 'none' };
  const isPrivate = channel !== origin.channel && origin.audience !== 'team';
  return isPrivate ? { kind: 'private' } : { kind: 'posted', channel };
}
