import type { Replica } from './replica.ts';

/** Timeout of a user or a platform for a response: longer than an abandoned lease lasts. */
export const TIMEOUT_MS = 15_000;

/** Message as returned by `GET /playground/messages`, with the fields used here. @see adapters/playground/readme.md */
export interface Message {
  readonly id: string;
  readonly channel: string;
  readonly replyTo: string | null;
  readonly text: string;
  readonly visibleTo: string | null;
  readonly asked: unknown;
  readonly state: string | null;
  readonly task: string | null;
  /** On the card of a set: its tasks. */
  readonly tasks?: readonly { readonly task: string; readonly state: string }[];
  readonly mentions: readonly string[];
  readonly attachments: readonly { readonly name: string; readonly bytes: number; readonly url: string }[];
  /** With the options of its selects, which are pressed likewise. */
  readonly buttons: readonly { readonly id: string }[];
}

/** Message as it is sent over HTTP. */
export type WireMessage = Message & {
  readonly card: { readonly selects?: readonly { readonly options: Message['buttons'] }[] };
};

export function pressable({ card, ...message }: WireMessage): Message {
  const options = (card.selects ?? []).flatMap((select) => select.options);
  return { ...message, buttons: [...message.buttons, ...options] };
}

/** Response to a user action; `null` fields where there is none. */
export interface Answered {
  readonly status: number | null;
  readonly message: string | null;
  readonly form: string | null;
  readonly error: string | null;
}

/** Response of a replica that is down. */
export const NO_ANSWER: Answered = { status: null, message: null, form: null, error: null };

/** Sends a user action to a replica. */
export async function post({ url }: Replica, path: string, body: object): Promise<Answered> {
  try {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const said = (await response.json()) as { message?: string | null; form?: { id: string }; error?: string };
    const { message = null, form, error = null } = said;
    return { status: response.status, message, form: form?.id ?? null, error };
  } catch {
    return NO_ANSWER;
  }
}
