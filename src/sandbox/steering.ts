/** Test directives: text in a prompt (`write`), its effect in code (`does`) and in the help page (`effect`). */
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

/** Effect of a test directive. */
export type Steering = (typeof STEERING)[number]['does'];

/** Returns the first test directive of a prompt, case-insensitively; `null` if it has none. */
export function steeringOf(prompt: string): Steering | null {
  const words = prompt.toLowerCase();
  return STEERING.find(({ write }) => words.includes(write))?.does ?? null;
}
