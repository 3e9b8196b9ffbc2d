import { shorten } from '../format.ts';

// Refusals of `/video budget`, as plain text that includes user input: adapters escape all of it.

export function unknownScope(given: string): string {
  return `scope: I don’t know ${quoted(given)} here. Use team, everyone, #channel or @person.`;
}

/** Refuses two scopes at once. */
export function isScopeTwice(one: string, other: string): string {
  return `scope: both ${quoted(one)} and ${quoted(other)} were given. Set one budget at a time.`;
}

/** Refuses a budget for a channel that does not exist or that the caller may not see. */
export function unknownBudgetChannel(): string {
  return 'scope: I can’t find that channel. Nothing was changed.';
}

export function threadBudget(): string {
  return 'scope: a thread’s clips count towards the budget of its channel. Set that one; nothing was changed.';
}

/** Refuses to remove a limit without saying which. @param command such as `/video budget` */
export function whoseBudget(command: string): string {
  return `scope: whose budget is it? For example: ${command} team off`;
}

/** Refuses a malformed amount. @param reason sentence without the option's name */
export function wrongAmount(reason: string): string {
  return `amount: ${reason} Nothing was changed.`;
}

/** Refuses a soft amount without an amount. @param command such as `/video budget` */
export function amountMissing(command: string): string {
  return `amount: how much a month? For example: ${command} team 100 USD. To remove a budget, write off; to see all, leave everything out.`;
}

function quoted(given: string): string {
  return `“${shorten(given, 60)}”`;
}
