import type { MissingRight } from '#src/chat/index.ts';
import { DailiesError } from '#src/errors.ts';
import type { Person } from '#src/tasks/index.ts';
import { type PolicyRefusal, type Refusal, SHOTS, settingNamed } from '#src/videos/index.ts';
import type { FieldProblem, OptionFields } from '../bot-port.ts';
import { nearest } from '../input/closest-match.ts';
import { policyCommand } from './command-name.ts';
import {
  all,
  count,
  either,
  formatBytes,
  formatCount,
  formatRange,
  quoted,
  shorten,
  shown,
  tryAgainIn,
} from './format.ts';
import { MEDIA_WORDS, valueWords } from './settings.ts';

const FIRST_SHOT = 'image: this is the first shot; there is no shot before it whose last frame it could start with.';

// All of these are plain text that includes user input: adapters escape all of it.

/**
 * Names the option (`fields`: as on the platform), the given value and the allowed ones:
 * `seconds: swift-1 can’t make 30 s. Choose 4, 6 or 8.`.
 */
export function refusalSentence(refusal: Refusal, fields?: OptionFields): string {
  return refusalSentences([refusal], fields).join('');
}

/** Returns the sentence of each refusal. Of those by a policy, the last one says who can change it. */
export function refusalSentences(refusals: readonly Refusal[], fields?: OptionFields): readonly string[] {
  const last = refusals.findLastIndex(isByPolicy);
  return refusals.map((refusal, at) => {
    const sentence = isByPolicy(refusal)
      ? policyRefusal(refusal, at === last ? policyCommand(fields) : null)
      : sentenceOf(refusal, fields);
    return refusal.line === undefined ? sentence : onLine(refusal.line, sentence);
  });
}

/** Names the rule that a value breaks, and what is allowed. @param command that changes it; `null`: without the advice to ask */
function policyRefusal(refusal: PolicyRefusal, command: string | null): string {
  const ask = command === null ? '.' : `, or ask an administrator to change that (${command}).`;
  if (refusal.reason === 'forbidden_words') {
    const words = refusal.words.map((word) => quoted(word, 40));
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

function isByPolicy(refusal: Refusal): refusal is PolicyRefusal {
  return refusal.reason === 'not_allowed' || refusal.reason === 'forbidden_words';
}

/** Names the line of a storyboard that a sentence is about. */
export function onLine(line: number, sentence: string): string {
  return `Line ${line}: ${sentence}`;
}

function sentenceOf(refusal: Exclude<Refusal, PolicyRefusal>, fields?: OptionFields): string {
  const link = fields?.links[refusal.option] ?? refusal.option;
  switch (refusal.reason) {
    case 'missing':
      return `${refusal.option}: say what the clip should show, such as a red fox in snow`;
    case 'control':
      return `${refusal.option}: it has control characters, as a file that is no text has. Write it anew.`;
    case 'few_shots':
      return refusal.given === 0
        ? 'There is no shot yet. Write what each one shows, one shot per line.'
        : `A storyboard has ${SHOTS.min} to ${SHOTS.max} shots, one per line, and this is one. For a single clip, use /video create.`;
    case 'many_shots':
      return `A storyboard has at most ${SHOTS.max} shots, and this is one more. Leave it out, or make two storyboards.`;
    case 'currencies':
      return `The models of these shots are priced in ${all(refusal.currencies)}. Choose models with one currency.`;
    case 'too_long':
      return `${refusal.option}: ${refusal.style === undefined ? '' : `with the style ${refusal.style} `}it has ${count(refusal.given, 'character')}; ${refusal.model} takes up to ${formatCount(refusal.max)}`;
    case 'unknown_style':
      return refusal.allowed.length === 0
        ? `style: there is no style ${quoted(refusal.given)}. This team has none yet; /video style shows them.`
        : `style: there is no style ${quoted(refusal.given)}. Choose ${either(refusal.allowed)}.`;
    case 'unknown_model':
      return `${refusal.option}: there is no model ${quoted(refusal.given)}. Choose ${either(refusal.allowed)}.`;
    case 'models_number':
      return `models: name ${refusal.min} to ${refusal.max} models, such as ${fields === undefined ? '--models ' : 'models:'}${refusal.allowed.slice(0, 2).join(',')}; ${count(refusal.given, 'model')} ${refusal.given === 1 ? 'is' : 'are'} named`;
    case 'models_twice':
      return `models: ${quoted(refusal.given)} is named twice. Name each model once.`;
    case 'models_currency':
      return `models: their prices are in ${all(refusal.given)}, so this would have no single price. Compare models of one currency.`;
    case 'not_shared':
      return notSharedSentence(refusal);
    case 'not_a_number':
      return `${refusal.option}: ${quoted(refusal.given)} isn’t a whole number${refusal.option === 'seconds' ? ' of seconds, such as 6' : ''}`;
    case 'takes':
      return `takes: ${quoted(refusal.given)} isn’t a number of takes. Choose 1 to ${refusal.max}.`;
    case 'not_offered':
      if (refusal.allowed.length === 0)
        return `${refusal.option}: ${refusal.model} doesn’t take this option. Leave it out.`;
      return `${refusal.option}: ${refusal.model} can’t make ${withUnit(refusal)}. Choose ${either(refusal.allowed)}.`;
    case 'address_too_long':
      return `${link}: the link has ${count(refusal.given, 'character')}; the limit is ${formatCount(refusal.max)}`;
    case 'not_an_address':
      return `${link}: ${quoted(refusal.given)} isn’t a link. It has to begin with https:// or http://.`;
    case 'first_shot':
      return FIRST_SHOT;
    case 'unknown_reference':
      return `${link}: ${noSuchImage(refusal.given.slice(1), nearest(refusal.given.slice(1).toLowerCase(), refusal.known))}`;
    case 'kept_here':
      return refusal.most === 0
        ? `${link}: files from the chat can’t be given to this model as long as your administrator hasn’t set PUBLIC_URL. Choose another model, or use a public link.`
        : `${link}: this file is larger than ${formatBytes(refusal.most)}, the most that I can give to this model. Use a smaller one, or a public link.`;
    case 'unknown_host':
      return `${link}: there is no host ${quoted(refusal.given)}. Check the link.`;
    case 'private_address':
      return `${link}: ${quoted(refusal.given)} is in a private network, where the video service can’t fetch it. Use a public link.`;
    case 'media_count':
      return mediaCountSentence(refusal);
  }
}

/** Returns what is wrong with a request, as errors of its form's fields; empty if the catalog accepts it. */
export function refusalProblems(
  checked: { readonly ok: true } | { readonly ok: false; readonly refusals: readonly Refusal[] },
  fields?: OptionFields,
): readonly FieldProblem[] {
  if (checked.ok) return [];
  const { refusals } = checked;
  // A storyboard’s form has one field for all of its shots.
  const fieldAt = (at: number) => (refusals[at]?.line === undefined ? (refusals[at]?.option ?? null) : 'shots');
  return refusalSentences(refusals, fields).map((sentence, at) => ({ field: fieldAt(at), sentence }));
}

function mediaCountSentence(refusal: Refusal & { readonly reason: 'media_count' }): string {
  const { option, model, given, min, max, isChained = false } = refusal;
  if (isChained) return frameCounts(refusal);
  const files = `reference ${MEDIA_WORDS[option].many}`;
  if (max === 0) return `${option}: ${model} takes no ${files}. Leave it out.`;
  const were = given === 0 ? 'none was given' : given === 1 ? '1 was given' : `${given} were given`;
  return `${option}: ${were}; ${model} ${given < min ? 'needs' : 'takes'} ${formatRange({ min, max })}`;
}

/** Refuses a number of images that is wrong because the last frame of the shot before is one of them. */
function frameCounts({ model, given, min, max }: Refusal & { readonly reason: 'media_count' }): string {
  if (max === 0)
    return `chain: ${model} takes no images, so its clips can’t start with the last frame of the shot before.`;
  return `image: with the last frame of the shot before, there ${given === 1 ? 'is' : 'are'} ${count(given, 'image')}; ${model} ${given < min ? 'needs' : 'takes'} ${formatRange({ min, max })}`;
}

/** Refuses a value that not every model of a comparison offers; names which do not, and what all of them offer. */
function notSharedSentence({ option, given, offers, shared }: Refusal & { readonly reason: 'not_shared' }): string {
  const setting = settingNamed(option);
  const words = (value: string): string => (setting === undefined ? value : valueWords(setting, value));
  const lists = offers.map(({ model, allowed }) => `${model} makes ${either(allowed)}`);
  if (shared.length === 0)
    return `${option}: these models can’t be compared, since they share no value: ${lists.join('; ')}`;
  const what = given === null ? '' : `not every model makes ${words(shown(given))}: `;
  return `${option}: ${what}${lists.join('; ')}. All of them make ${either(shared.map(words))}.`;
}

function withUnit({ option, given }: Refusal & { readonly reason: 'not_offered' }): string {
  const setting = settingNamed(option);
  return setting === undefined ? shown(given) : valueWords(setting, shown(given));
}

/** Refuses an unknown subcommand. @param near the one that was probably meant; `null` if none is alike. */
export function unknownCommand(given: string, names: readonly string[], near: string | null): string {
  const rest = near === null ? `Try ${either(names)}.` : `Did you mean ${near}? /video help shows every command.`;
  return `There is no /video ${shown(given)}. ${rest}`;
}

/** Refuses a task id that matches no task of this team, or several. */
export function unknownTask(given: string): string {
  return `No clip found with the ID ${quoted(given)}, or more than one begins with it. /video list shows the IDs.`;
}

/** Refuses a channel that is unknown, or that the user may not see. */
export function channelUnknown(option: string): string {
  return `${option}: there is no such channel, or you can’t see it. Pick one that you are a member of.`;
}

/** Refuses a value that is none of an option's choices. */
export function notAChoice(given: string, choices: readonly string[]): string {
  return `${quoted(given)} isn’t known. Choose ${either(choices)}.`;
}

/** Refuses a change for a person who left. @param option such as `who` */
export function hasLeft(option: string, name: string): string {
  return `${option}: ${shorten(name, 60)} isn’t a member here any more. Nothing was changed.`;
}

/** Refuses a name that matches no known person, or several. @param takes what the option takes */
export function unknownPerson(given: string, takes = 'everyone, me or @name'): string {
  return `who: I don’t know anyone here called ${quoted(given)}. Use ${takes}.`;
}

/**
 * Explains why the bot cannot post in a channel, and the remedy; shown before anything is bought.
 * @param hasButton true if the message has a **Try again** button.
 * @param isHere true if it is about the channel in which it is shown.
 */
export function missingRightSentence(
  missing: MissingRight,
  { hasButton, isHere }: { readonly hasButton: boolean; readonly isHere: boolean },
): string {
  const again = hasButton ? 'press Try again' : 'try again';
  const which = isHere ? 'this' : 'that';
  switch (missing.kind) {
    case 'permission':
      return `I need ${missing.right} in ${which} channel. An admin can allow it in ${missing.where}. Then ${again}.`;
    case 'scope':
      return `I’m missing ${missing.right}. An admin reinstalls the app at ${missing.where}. Then ${again}.`;
    case 'uninvited':
      return `I’m not in ${which} ${missing.to} yet. Type ${missing.type}${isHere ? '' : ' there'}, then ${again}.`;
    case 'group':
      return 'I can’t be added to this group message. Use a channel, or message me directly.';
    case 'others':
      return 'I can’t post in a conversation between other people. Use a channel, or message me directly.';
    case 'archived':
      return `${isHere ? 'This' : 'That'} channel is archived. Use another one.`;
  }
}

/** Refuses a decision by a user who may not decide on the task. */
export function mayNot(by: Person, instead: string | null): string {
  const way = instead === null ? '' : ` ${instead}`;
  return `Only ${by.name}, or someone who manages this channel, can do that.${way}`;
}

/** Returns the reason for refusing an id; `null` if the error is not about the id. */
export function refusalOfId(thrown: unknown, id: string): string | null {
  if (!(thrown instanceof DailiesError)) return null;
  const { code, retryAfterMs = 0 } = thrown;
  if (code === 'task_unknown') {
    return `The video service doesn’t know ${quoted(id)}. Compare it with its console, character by character; if they are the same, only the console can help. Nothing was changed, and you can enter it again.`;
  }
  // The requester of the other task is not named.
  if (code === 'id_taken') {
    return `${quoted(id)} already belongs to another clip. Compare it with the service’s console. Nothing was changed.`;
  }
  if (code !== 'id_attempts') return null;
  return `Too many IDs were entered for this clip. ${tryAgainIn(retryAfterMs)}`;
}

/** Refuses the retry of an undecided task, which could be billed twice. */
export const UNDECIDED =
  'It’s unconfirmed whether the video service accepted this one, so making it again may cost twice. Decide under its message first: Enter its ID, Send again or Dismiss.';

/** Reply to an unknown button, or to one of a task that does not exist here. */
export const UNKNOWN_BUTTON = 'This button no longer works. /video list shows the latest clips.';

export const DISCARDED = 'Discarded. Nothing was bought.';

/** Refuses what was judged by settings that have changed, although those of now would allow it. */
export const SETTINGS_CHANGED = 'The team’s settings changed just now. Nothing was bought; try again.';

/** Reply to the removal of an unknown name. */
export function noSuchImage(name: string, meant: string | null): string {
  return `There is no @${name} in the library.${meant === null ? '' : ` Did you mean @${meant}?`}`;
}
