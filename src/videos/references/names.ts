import type { RequestDraft, ShotDraft } from '../request.ts';

/** Name of a team's image, with its address. */
export interface NamedReference {
  readonly name: string;
  readonly url: string;
}

/** An `@word` that is no part of an address, a mention or a longer word. */
const WORD = /(?<![\p{L}\p{N}_@.<:/-])@([a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?)(?![\p{L}\p{N}_@-])/giu;

/**
 * Adds the images that a prompt names as `@mug` to those of the request; the word stays in the prompt as “mug”. Unknown
 * words are left as they are.
 */
export function withNamedImages(draft: RequestDraft, references: readonly NamedReference[]): RequestDraft {
  const { prompt, image = [] } = draft;
  if (prompt === undefined || references.length === 0) return draft;
  const known = new Set(references.map(({ name }) => name));
  const named = new Set<string>();
  const plain = prompt.replace(WORD, (word, name: string) => {
    if (!known.has(name.toLowerCase())) return word;
    named.add(`@${name.toLowerCase()}`);
    return name;
  });
  const given = new Set(image.flatMap((one) => one.toLowerCase().split(/\s+/u)));
  const added = [...named].filter((name) => !given.has(name));
  return named.size === 0 ? draft : { ...draft, prompt: plain, image: [...image, ...added] };
}

/** Returns the words of all prompts of an order that are written as names, of images or not. */
export function namesIn({ prompt = '', typed = prompt, shots = [] }: RequestDraft): readonly string[] {
  const own = [...typed.matchAll(WORD)].map(([, name = '']) => name.toLowerCase());
  return [...own, ...shots.flatMap(namesIn)];
}

/** Replaces names in all prompts of an order. @param written what stands in place of a name; undefined: it stays */
export function withNames<Draft extends RequestDraft | ShotDraft>(
  draft: Draft,
  written: (name: string) => string | undefined,
): Draft {
  const { prompt, typed, script, shots }: RequestDraft = draft;
  const replaced = (text?: string) => text?.replace(WORD, (word, name: string) => written(name) ?? word);
  const texts = { prompt: replaced(prompt), typed: replaced(typed), script: replaced(script) };
  const all = { ...texts, shots: shots?.map((shot) => withNames(shot, written)) };
  return { ...draft, ...Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) };
}

/** Returns the address of an image given as `@mug`; `null` for an unknown name, the text itself if it is no name. */
export function addressNamed(given: string, references: readonly NamedReference[]): string | null {
  if (!given.startsWith('@')) return given;
  const name = given.slice(1).toLowerCase();
  return references.find((one) => one.name === name)?.url ?? null;
}
