import { shorten } from '../format.ts';

/** Refuses a name that is no known person, role or user group. */
export function unknownApprover(given: string, option = 'who'): string {
  return `${option}: I don’t know “${shorten(given, 80)}” here. Mention a person, a role or a user group, such as @ben.`;
}
