import type { Caller, OptionDeclaration, Reply } from './bot-port.ts';
import { optionValue } from './input/options.ts';
import { personNamed, personWithId } from './input/people.ts';
import { type BotPorts, privately, refused, type Subcommand, teamOf } from './input/subcommand.ts';
import { type UsageShown, usageCard, usageLength } from './sentences/cards/usage.ts';
import { monthOf } from './sentences/format.ts';
import { notAMonth, unknownPerson } from './sentences/refusals.ts';
import type { UsagePage } from './ui/buttons.ts';
import { pageButtons } from './ui/buttons.ts';

const options: readonly OptionDeclaration[] = [
  {
    name: 'who',
    description: 'Whose spending',
    kind: 'person',
    positional: true,
    defaultWords: 'everyone',
  },
  {
    name: 'month',
    description: 'Year and month, such as 2026-11',
    kind: 'text',
    autocomplete: 'month',
    defaultWords: 'this month',
  },
];

/** `/video usage`: the spend of a month. */
export const usage: Subcommand = {
  declaration: {
    name: 'usage',
    description: 'Shows what was spent in a month',
    example: '/video usage me --month 2026-11',
    options,
    visibility: 'private',
  },
  run: async (ports, caller, given) => {
    const thisMonth = monthOf(ports.clock.now());
    const month = optionValue(given, 'month') ?? thisMonth;
    const named = optionValue(given, 'who') ?? 'everyone';
    const who = await personNamed(ports, caller, named);
    const isMonth = /^\d{4}-(?:0[1-9]|1[0-2])$/.test(month);
    const wrong = [...(who === null ? [unknownPerson(named)] : []), ...(isMonth ? [] : [notAMonth(month, thisMonth)])];
    if (who === null || wrong.length > 0) return refused(...wrong);
    const person = who === 'everyone' ? null : who;
    return showUsage(ports, caller, { month, who: person, offset: 0 });
  },
};

/** Largest number of people, and of models, per page. */
const PAGE_LENGTH = 15;

/** Shows a page of a month's spend to the caller only. */
async function showUsage(
  ports: BotPorts,
  caller: Caller,
  { month, who, offset }: Pick<UsageShown, 'month' | 'who' | 'offset'>,
): Promise<Reply> {
  const all = await ports.ledger.month({ ...teamOf(caller), user: who?.id }, month);
  // Guests and members of other organisations see the current channel only.
  const entries = caller.isExternal === true ? all.filter(({ channel }) => channel === caller.channel) : all;
  const buttons = pageButtons({
    page: { list: 'usage', offset, month, user: who?.id ?? null },
    length: PAGE_LENGTH,
    hasMore: usageLength({ who, entries }) > offset + PAGE_LENGTH,
    labels: ['Previous', 'Next'],
  });
  return privately(usageCard({ month, who, entries, offset, length: PAGE_LENGTH, buttons }));
}

/** Shows another page of a month's spend. */
export async function turnUsagePage(ports: BotPorts, caller: Caller, page: UsagePage): Promise<Reply> {
  const { month, offset, user } = page;
  const who = user === null ? null : await personWithId(ports, caller, user);
  return showUsage(ports, caller, { month, who, offset });
}
