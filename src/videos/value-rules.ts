import type { Refusal, Resolution, VideoRequest } from './request.ts';

/** Lengths that are allowed, in whole seconds: up to a maximum, or those of a list. */
type AllowedSeconds = { readonly max: number } | readonly number[];

/** Rules on the values of an order. Absent: everything that the catalog offers. */
export interface ValueRules {
  readonly models?: readonly string[];
  readonly seconds?: AllowedSeconds;
  readonly resolutions?: readonly Resolution[];
  /** Largest number of clips in one order, from 1. */
  readonly clips?: number;
  /** Name of the style that every order has. */
  readonly style?: string;
  /** Words that no text for the video service may contain. */
  readonly words?: readonly string[];
}

/** Refusal of a value that the catalog offers and a policy does not allow. */
export type PolicyRefusal = Extract<Refusal, { readonly reason: 'not_allowed' | 'forbidden_words' }>;

/** Returns whether a model is allowed. */
export function allowsModel({ models }: ValueRules, name: string): boolean {
  return models === undefined || models.includes(name);
}

/** Returns whether a length in seconds is allowed. */
export function allowsSeconds({ seconds }: ValueRules, given: number): boolean {
  if (seconds === undefined) return true;
  return 'max' in seconds ? given <= seconds.max : seconds.includes(given);
}

/** Returns whether a resolution is allowed; a model that takes none makes no difference. */
export function allowsResolution({ resolutions }: ValueRules, given: Resolution | undefined): boolean {
  return resolutions === undefined || given === undefined || resolutions.includes(given);
}

/** Returns the refusal of a prompt with forbidden words; `null` if it has none. */
export function wordsRefused({ words = [] }: ValueRules, prompt: string): PolicyRefusal | null {
  const found = forbiddenIn(prompt, words);
  return found.length === 0 ? null : { reason: 'forbidden_words', option: 'prompt', words: found };
}

/** Returns the refusal of a number of clips in one order; `null` if it is allowed. */
export function clipsRefused({ clips }: ValueRules, given: number): PolicyRefusal | null {
  if (clips === undefined || given <= clips) return null;
  return { reason: 'not_allowed', option: 'takes', given: String(given), allowed: [`up to ${clips}`] };
}

/**
 * Returns why an order is not allowed, by its rules alone: the last check before a purchase, of the values that are sent.
 * @param requests all clips of the order.
 */
export function policyRefusals(rules: ValueRules, requests: readonly VideoRequest[]): readonly PolicyRefusal[] {
  const found = requests.flatMap((request) => requestRefusals(rules, request));
  const clips = clipsRefused(rules, requests.length);
  const all = [...found, ...(clips === null ? [] : [clips])];
  return distinctRefusals(all);
}

/** Returns refusals, those that say the same once. */
export function distinctRefusals<Of extends Refusal>(refusals: readonly Of[]): readonly Of[] {
  return [...new Map(refusals.map((refusal) => [JSON.stringify(refusal), refusal])).values()];
}

function requestRefusals(rules: ValueRules, request: VideoRequest): readonly PolicyRefusal[] {
  const { model, seconds, resolution, prompt } = request;
  const refuse = (option: NotAllowed['option'], given: string, allowed: readonly string[]) =>
    ({ reason: 'not_allowed', option, given, allowed }) as const;
  const words = wordsRefused(rules, prompt);
  const isStyled = rules.style === undefined || rules.style === request.style;
  return [
    ...(allowsModel(rules, model) ? [] : [refuse('model', model, rules.models ?? [])]),
    ...(allowsSeconds(rules, seconds) ? [] : [refuse('seconds', String(seconds), allowedSeconds(rules.seconds))]),
    ...(allowsResolution(rules, resolution) ? [] : [refuse('resolution', resolution ?? '', rules.resolutions ?? [])]),
    ...(isStyled ? [] : [refuse('style', request.style ?? '', [rules.style ?? ''])]),
    ...(words === null ? [] : [words]),
  ];
}

type NotAllowed = Extract<PolicyRefusal, { readonly reason: 'not_allowed' }>;

/** Returns allowed lengths as choices for the user: `["4", "6"]`, or `["up to 8"]`. */
export function allowedSeconds(seconds: AllowedSeconds | undefined): readonly string[] {
  if (seconds === undefined) return [];
  return 'max' in seconds ? [`up to ${seconds.max}`] : seconds.map(String);
}

/** Matches letters of scripts that are written without spaces between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/**
 * Returns those of the words that occur in a text as whole words, as they are listed. Case, accents, width and invisible
 * characters make no difference; a phrase matches across any white space. In scripts without spaces between words, each
 * occurrence counts.
 */
export function forbiddenIn(text: string, words: readonly string[]): readonly string[] {
  if (words.length === 0) return [];
  const folded = fold(text);
  return words.filter((word) => occursIn(folded, fold(word)));
}

/** Returns whether two words count as the same; a word without a character is the same as ''. */
export function isSameWord(one: string, other: string): boolean {
  return fold(one) === fold(other);
}

/**
 * Folds a text for comparison. Accents are the marks that no script has of its own: the vowel signs of Hindi stay.
 * @see https://www.unicode.org/reports/tr44/#Script
 */
function fold(text: string): string {
  const plain = text.normalize('NFKD').replace(/[\p{Script=Inherited}\p{Cf}]/gu, '');
  return plain.toUpperCase().replace(/\s+/gu, ' ').trim();
}

const PART_OF_WORD = /[\p{L}\p{M}\p{N}]/u;

function occursIn(text: string, word: string): boolean {
  if (word === '') return false;
  for (let from = text.indexOf(word); from !== -1; from = text.indexOf(word, from + 1)) {
    // A character has at most two code units; the whole text before it is not copied for each occurrence.
    const before = Array.from(text.slice(Math.max(0, from - 2), from)).at(-1) ?? '';
    const [after = ''] = text.slice(from + word.length);
    const [first = ''] = word;
    const last = Array.from(word).at(-1) ?? '';
    if (isBoundary(before, first) && isBoundary(last, after)) return true;
  }
  return false;
}

/** Returns whether a word may begin or end between two characters. */
function isBoundary(before: string, after: string): boolean {
  return !(PART_OF_WORD.test(before) && PART_OF_WORD.test(after)) || UNSPACED.test(before) || UNSPACED.test(after);
}
