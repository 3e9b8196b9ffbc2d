import type { BudgetScope } from '#src/money/index.ts';
import type { Caller, GivenOptions } from '../bot-port.ts';
import { isScopeTwice, threadBudget, unknownBudgetChannel, unknownScope } from '../sentences/money/budgets.ts';
import { hasLeft } from '../sentences/refusals.ts';
import { rightsIn } from './member-rights.ts';
import { isSet, optionValue } from './options.ts';
import { anyoneNamed, channelNamed, personNamed, withoutMarkup } from './people.ts';
import type { BotPorts } from './subcommand.ts';

export type TeamScope = Exclude<BudgetScope, { readonly kind: 'deployment' }>;

/** Options of `/video budget`, or its words: `@ada 20 USD soft`. */
interface BudgetWords {
  /** `team`, `everyone`, a mention, `#channel` or a name; `null` if none was given. */
  readonly scope: string | null;
  readonly amount: string | null;
  readonly isSoft: boolean;
}

const SCOPE = /^(?<scope>team|everyone|me|<[@#][^<>]*>|#\S+)(?=\s|$)\s*(?<rest>.*)$/isu;
const AMOUNT = /(?:^|\s)(?<amount>off(?:\s+[a-z]{3})?|[-+$€£]?\d\S*(?:\s+[a-z]{3})?)$/iu;
const SOFT = /(?:^|\s)soft$/iu;

/** Splits the words of a typed command; an option of its own takes precedence over a word. */
export function budgetWords(given: GivenOptions): BudgetWords {
  const typed = optionValue(given, 'scope') ?? '';
  const text = typed.replace(SOFT, '').trim();
  const { scope, amount } = splitWords(text);
  return {
    scope: scope === '' ? null : scope,
    amount: optionValue(given, 'amount') ?? (amount === '' ? null : amount),
    isSoft: isSet(given, 'soft') || SOFT.test(typed),
  };
}

function splitWords(text: string): { readonly scope: string; readonly amount: string } {
  const { scope, rest = '' } = SCOPE.exec(text)?.groups ?? {};
  // What follows a scope is an amount, well-formed or not.
  if (scope !== undefined) return { scope, amount: rest };
  const amount = AMOUNT.exec(text)?.groups?.['amount'] ?? '';
  return { scope: text.slice(0, text.length - amount.length).trim(), amount };
}

/**
 * Finds the scope of a budget among the words and the options for a channel and a person.
 * @returns the scope, `null` where none was given, or a sentence.
 */
export async function budgetScope(
  ports: BotPorts,
  caller: Caller,
  { scope, given }: { readonly scope: string | null; readonly given: GivenOptions },
): Promise<TeamScope | string | null> {
  const named = [scope, optionValue(given, 'channel') ?? null, optionValue(given, 'person') ?? null];
  const isPerson = named[2] !== null;
  const [first, another] = named.filter((one) => one !== null);
  if (first === undefined) return null;
  if (another !== undefined) return isScopeTwice(withoutMarkup(first), withoutMarkup(another));
  const { platform, team } = caller;
  const word = first.toLowerCase();
  if (word === 'team' || word === 'everyone') return { kind: word, platform, team };
  if (named[1] !== null || /^(?:<#|#)/u.test(first))
    return { kind: 'channel', platform, team, channel: channelNamed(first) };
  const person = await (isPerson || first.startsWith('@') ? anyoneNamed : personNamed)(ports, caller, first);
  return person === null || person === 'everyone' ? unknownScope(first) : { kind: 'person', platform, team, person };
}

/**
 * Returns why a scope can have no budget: a channel that the caller does not see, a thread, a person who left; `null` if
 * it can.
 */
export async function scopeProblem(ports: BotPorts, caller: Caller, scope: TeamScope): Promise<string | null> {
  const { platform, team, channel, address } = caller;
  if (scope.kind === 'channel') {
    const { view, parent, isUnused } = await rightsIn(ports, caller, scope.channel);
    if (!view || isUnused === true) return unknownBudgetChannel();
    return parent === undefined ? null : threadBudget();
  }
  if (scope.kind !== 'person' || scope.person.id === caller.user.id) return null;
  const isMember = await ports.chat.isMember(platform, { team, channel, address }, scope.person.id);
  return isMember ? null : hasLeft('scope', scope.person.name);
}
