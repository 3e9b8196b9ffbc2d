import { z } from 'zod';

/**
 * Response of chat completions, as far as it is read.
 * @see https://platform.openai.com/docs/api-reference/chat/object
 */
const Completion = z.object({
  choices: z
    .array(
      z.object({
        /** `stop` for a whole text; `length` for one that was cut off; `content_filter` for one that was withheld. */
        finish_reason: z.string().nullish(),
        message: z.object({ content: z.string().nullish(), refusal: z.string().nullish() }),
      }),
    )
    .min(1),
});

/** Text of an answer, or why it is of no use. */
export type ReadAnswer =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: 'bad_answer' | 'empty' | 'cut_off' | 'withheld' };

/** Reads the body of a response, which is untrusted. */
export function readAnswer(body: string): ReadAnswer {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    return { ok: false, reason: 'bad_answer' };
  }
  const { data } = Completion.safeParse(json);
  const [choice] = data?.choices ?? [];
  if (choice === undefined) return { ok: false, reason: 'bad_answer' };
  const { finish_reason: end, message } = choice;
  if (end === 'length') return { ok: false, reason: 'cut_off' };
  const isRefusal = message.refusal !== undefined && message.refusal !== null && message.refusal !== '';
  if (end === 'content_filter' || isRefusal) return { ok: false, reason: 'withheld' };
  const text = promptIn(message.content ?? '');
  return text === '' ? { ok: false, reason: 'empty' } : { ok: true, text };
}

/** Invisible characters that hide or reorder text; the joiner of emoji (U+200D) stays. */
const INVISIBLE =
  /[\p{Cc}\u00AD\u061C\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]/gu;
const FENCE = /^```\w*\s+(.*?)\s*```$/su;
const QUOTED = /^(?:"([^"]+)"|“([^“”]+)”)$/u;

/** Returns a model’s text as a prompt of one line: without control characters, and without the quotes or fence around it. */
export function promptIn(text: string): string {
  const unfenced = text.toWellFormed().trim().replace(FENCE, '$1');
  const line = unfenced.replace(/\s+/gu, ' ').replace(INVISIBLE, '').trim();
  const [, straight, curly] = QUOTED.exec(line) ?? [];
  return (straight ?? curly ?? line).trim();
}
