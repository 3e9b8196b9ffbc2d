import type { MissingRight } from '#src/chat/platform.ts';
import type { Person } from '#src/tasks/task.ts';
import type { Refusal } from '#src/videos/request.ts';
import type { Command, OptionDeclaration } from '../command.ts';
import { all, count, either, formatRange, shorten } from './format.ts';

// All of these are plain text with what a person typed in it: adapters escape them whole.

/** Which option, what was given, what is allowed: `seconds: 30 is not offered by swift-1; it takes 4, 6 or 8`. */
export function refusalSentence(refusal: Refusal): string {
  switch (refusal.reason) {
    case 'missing':
      return `${refusal.option}: say what the clip should show, such as: /video create a red fox in snow`;
    case 'too_long':
      return `${refusal.option}: ${refusal.given} characters are too many for ${refusal.model}; it takes up to ${refusal.max}`;
    case 'unknown_model':
      return `${refusal.option}: ${quoted(refusal.given)} is not in the catalog; it has ${either(refusal.allowed)}`;
    case 'not_a_number':
      return `${refusal.option}: ${quoted(refusal.given)} is not a number of seconds, such as 6`;
    case 'not_offered':
      if (refusal.allowed.length === 0) return `${refusal.option}: ${refusal.model} does not take it; leave it out`;
      return `${refusal.option}: ${shown(refusal.given)} is not offered by ${refusal.model}; it takes ${either(refusal.allowed)}`;
    case 'address_too_long':
      return `${refusal.option}: an address of ${refusal.given} characters is too long; it takes up to ${refusal.max}`;
    case 'not_an_address':
      return `${refusal.option}: ${quoted(refusal.given)} is not an address; it has to begin with https:// or http://`;
    case 'media_count':
      return mediaCountSentence(refusal);
  }
}

function mediaCountSentence({ option, model, given, min, max }: Refusal & { readonly reason: 'media_count' }): string {
  const files = MEDIA_WORDS[option];
  if (max === 0) return `${option}: ${model} takes no ${files}; leave it out`;
  const were = given === 0 ? 'none was given' : given === 1 ? '1 was given' : `${given} were given`;
  return `${option}: ${were}; ${model} ${given < min ? 'needs' : 'takes'} ${formatRange({ min, max })}`;
}

const MEDIA_WORDS = { image: 'reference images', audio: 'reference audio', video: 'reference videos' } as const;

/** A flag or option the command does not have: names it, the nearest one, and the right ones. */
export function unknownOption(command: Command, given: string, nearest: string | null): string {
  const right = command.options.map(({ name }) => `--${name}`);
  const guess = nearest === null ? '' : `; did you mean --${nearest}?`;
  const taken = right.length === 0 ? 'It takes no options' : `It takes ${all(right)}`;
  const asText = command.options.some(({ positional }) => positional)
    ? `. As a part of the text, put it in quotes: "--${shown(given)}"`
    : '';
  return `--${shown(given)}: /video ${command.name} does not have it${guess === '' ? '. ' : `${guess} `}${taken}${asText}`;
}

/** A flag at the end, or with another flag after it, where a value belongs. */
export function valueMissing(option: OptionDeclaration): string {
  return `${option.name}: no value was given after --${option.name}; it takes ${valueWords(option)}`;
}

/** A value for a flag that takes none: `--off=yes`. */
export function valueNotTaken(option: OptionDeclaration, given: string): string {
  return `${option.name}: --${option.name} takes no value; ${quoted(given)} was given. Write --${option.name} alone.`;
}

/** An option given more than once that may be given once. */
export function givenTwice(option: OptionDeclaration, values: readonly string[]): string {
  return `${option.name}: given ${values.length} times (${values.map(quoted).join(', ')}); it may be given once`;
}

/** Words after a command that takes none. */
export function extraWords(command: Command, words: string): string {
  return `${command.name}: ${quoted(words)} is more than /video ${command.name} takes. For a clip of that, write: /video create ${command.name} ${shown(words)}`;
}

/** A command that does not exist yet. */
export function notYet(name: string, typed: string): string {
  return `${name}: there is no such command yet. For a clip of that, write: /video create ${shown(typed)}`;
}

/** A required option that is not there. */
export function missingOption(command: Command, option: OptionDeclaration): string {
  return `${option.name}: it is missing; such as: ${command.example}`;
}

/** A value longer than the option takes. */
export function valueTooLong(option: OptionDeclaration, given: number, max: number): string {
  return `${option.name}: ${count(given, 'character')} are too many; it takes up to ${max}`;
}

/** A subcommand that does not exist. */
export function unknownCommand(given: string, names: readonly string[]): string {
  return `${quoted(given)} is no command of mine; there are ${all(names)}`;
}

/** A task id that fits no task of this team, or several. */
export function unknownTask(given: string): string {
  return `id: no single clip of this team goes by ${quoted(given)}. /video list shows the ids; the first 8 characters are enough.`;
}

/** A month that is none. */
export function notAMonth(given: string, example: string): string {
  return `month: ${quoted(given)} is not a month; write it as year and month, such as ${example}`;
}

/** A name nobody goes by here. */
export function unknownPerson(given: string): string {
  return `who: I know nobody here called ${quoted(given)}; write everyone, me, or @ and the name`;
}

/** A right the bot lacks where it is to post; said before anything is bought. */
export function missingRightSentence({ right, where }: MissingRight): string {
  return `I lack the right “${right}” there. It is given under: ${where}. After that, send this again.`;
}

/** Somebody may not decide on a task. */
export function mayNot(by: Person, instead: string | null): string {
  const way = instead === null ? '' : ` ${instead}`;
  return `Only ${by.name} or somebody who manages the channel can do that.${way}`;
}

/** The way out for somebody who wanted another's clip again. */
export function retryYourself(shortId: string): string {
  return `To make it again under your own name: /video retry ${shortId}`;
}

/** An id that cannot be one of the service's. */
export function notAnUpstreamId(given: string): string {
  if (given === '') return 'id: it is empty; the service’s console shows it next to the task';
  return `id: ${quoted(given)} cannot be a task’s id; copy it from the service’s console, without spaces`;
}

/** An id that the service says it does not know. */
export function unknownUpstreamId(given: string): string {
  return `id: the service says that it does not know ${quoted(given)}. Compare it with its console, character by character; if they are the same, only the console can help. Nothing was changed, and you can enter it again.`;
}

/** Retrying a task nobody has decided on would be the double bill that Dailies exists to avoid. */
export const UNDECIDED =
  'Nobody knows yet whether the service took this one, so making it again may cost twice. Decide under its message first: Look it up, Send again or Leave it.';

/** A button nobody knows, or one of a task that is not here. */
export const UNKNOWN_BUTTON = 'This button leads nowhere any more. /video list shows the clips that are there.';

/** Keeps a long prompt from being lost with the form it was typed in. */
export function promptKept(prompt: string): string {
  return `Your prompt, to copy: ${prompt}`;
}

function valueWords(option: OptionDeclaration): string {
  if (option.choices !== undefined) return either(option.choices.map(({ value }) => value));
  switch (option.kind) {
    case 'address':
      return 'an address, such as https://example.com/fox.png';
    case 'person':
      return 'everyone, me, or @ and a name';
    case 'channel':
      return 'a channel, such as #clips';
    case 'integer':
      return 'a whole number, such as 6';
    case 'text':
    case 'flag':
      return 'a value';
  }
}

/** What was typed, short enough to stand in a sentence. */
function shown(given: string): string {
  return shorten(given, 80);
}

function quoted(given: string): string {
  return `“${shown(given)}”`;
}
