/** What a prompt can make the embedded service do, and how that is said in a help. */
export const STEERING = [
  { write: '[fail]', does: 'fail', effect: 'fails halfway and is refunded' },
  { write: '[moderated]', does: 'moderated', effect: 'is refused by moderation; nothing is created' },
  { write: '[moderated later]', does: 'moderated_later', effect: 'is stopped by moderation halfway and refunded' },
  { write: '[slow]', does: 'slow', effect: 'stays queued for a minute first' },
  { write: '[stuck]', does: 'stuck', effect: 'stays at 42 % forever' },
  { write: '[unknown]', does: 'unknown', effect: 'reports an unknown status until it is finished' },
  { write: '[no balance]', does: 'no_balance', effect: 'is refused because the account is out of credit' },
  { write: '[busy]', does: 'busy', effect: 'is told to come back in 2 seconds (429) and accepted at the second try' },
  { write: '[lost]', does: 'lost', effect: 'is accepted and rendered, but the answer never arrives' },
] as const;

/** What a prompt asks for besides a picture. */
export type Steering = (typeof STEERING)[number]['does'];

/** The first steering word of a prompt, upper or lower case; `null` for an ordinary prompt. */
export function steeringOf(prompt: string): Steering | null {
  const words = prompt.toLowerCase();
  return STEERING.find(({ write }) => words.includes(write))?.does ?? null;
}
