import type { Approver } from '#src/tasks/index.ts';
import { type PolicyRefusal, type Style, settingNamed } from '#src/videos/index.ts';
import type { OptionFields } from '../../bot-port.ts';
import { all, either, shorten } from '../format.ts';
import { valueWords } from '../settings.ts';

// Plain text that includes user input: adapters escape all of it.

/** Names the rule that a value breaks, and what is allowed. @param command that changes it; `null`: without the advice to ask */
export function policyRefusal(refusal: PolicyRefusal, command: string | null): string {
  const ask = command === null ? '.' : `, or ask an administrator to change that (${command}).`;
  if (refusal.reason === 'forbidden_words') {
    const words = refusal.words.map((word) => `“${shorten(word, 40)}”`);
    const [are, another] = words.length === 1 ? ['isn’t', 'another word'] : ['aren’t', 'other words'];
    return `${refusal.option}: ${all(words)} ${are} allowed here. Use ${another}${ask}`;
  }
  const { option, given, allowed } = refusal;
  if (option === 'style' && given === '')
    return `style: clips here are made in the style ${either(allowed)}. Choose it${ask}`;
  const setting = settingNamed(option);
  const value = setting === undefined ? shorten(given, 80) : valueWords(setting, shorten(given, 80));
  const what = option === 'takes' ? `${value} clips in one order aren’t` : `${value} isn’t`;
  const choice = allowed.length === 0 ? 'Choose another' : `Choose ${either(allowed)}`;
  return `${option}: ${what} allowed here. ${choice}${ask}`;
}

/** Members of a role or user group who could not be looked up. */
type Unread = { readonly name: string; readonly reason: string | null } | null;

/** Refuses the creation of clips by a rule. */
export function mayNotCreate(allowed: readonly Approver[], fields: OptionFields | undefined, unread: Unread): string {
  return `You can’t create clips here: ${onlyAllowed(allowed, fields, unread)}`;
}

export function mayNotReviewHere(
  allowed: readonly Approver[],
  fields: OptionFields | undefined,
  unread: Unread,
): string {
  return `You can’t review clips here: ${onlyAllowed(allowed, fields, unread)}`;
}

function onlyAllowed(allowed: readonly Approver[], fields: OptionFields | undefined, unread: Unread): string {
  const only =
    allowed.length === 0
      ? 'only administrators may'
      : `only ${either(allowed.map(({ name }) => shorten(name, 60)))} may`;
  return `${only}. To change that, ask an administrator (${policyCommand(fields)}).${unreadMembers(unread)}`;
}

/** Refuses a decision on someone else’s clip by a rule. */
export function mayNotDecide(
  requester: string,
  allowed: readonly Approver[],
  fields: OptionFields | undefined,
  unread: Unread,
): string {
  const names = [requester, ...allowed.map(({ name }) => shorten(name, 60)), 'an administrator'];
  return `Only ${either(names)} can do that here. ${policyCommand(fields)} shows the rule.${unreadMembers(unread)}`;
}

export const LEAVES_NO_MODEL =
  'With these rules, no model could make a clip: /video models shows what each offers. Nothing was changed.';

/** Refuses a name that is not one of the known ones. */
export function notOneOf(option: string, given: string, known: readonly string[]): string {
  return `${option}: ${quoted(given)} isn’t known. Choose from ${all(known)}, separated by commas, or any.`;
}

/** Refuses a rule that names no style of the team. */
export function notAStyle(given: string, styles: readonly Style[]): string {
  const names = styles.map(({ name }) => name);
  const known = names.length === 0 ? 'Add it first with /video style' : `Choose ${either(names)}`;
  return `style: there is no style ${quoted(given)}. ${known}, or any.`;
}

/** Refuses lengths that are no whole numbers of seconds. */
export function notLengths(given: string): string {
  return `seconds: ${quoted(given)} isn’t a length. Write the longest one, such as 8, those allowed, such as 4, 6, or any.`;
}

export function notClips(given: string, max: number): string {
  return `clips: ${quoted(given)} isn’t a number of clips. Choose 1 to ${max}, or any.`;
}

/** Refuses forbidden words that are too many, too long or without a character. */
export function tooManyWords({ words, characters }: { readonly words: number; readonly characters: number }): string {
  return `words: write up to ${words} words or phrases of up to ${characters} characters, separated by commas.`;
}

function quoted(given: string): string {
  return `“${shorten(given, 40)}”`;
}

function unreadMembers(unread: Unread): string {
  if (unread === null) return '';
  const { name, reason } = unread;
  const what = ` I couldn’t find out who belongs to ${shorten(name, 60)}`;
  return reason === null ? `${what} just now; try again in a moment.` : `${what}: ${reason}.`;
}

/** Returns the command that shows and changes the policy, as it is typed on the platform. */
export function policyCommand(fields: OptionFields | undefined): string {
  return `${fields?.administration ?? '/video'} policy`;
}
