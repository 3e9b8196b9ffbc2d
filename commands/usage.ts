import type { OptionDeclaration } from './command.ts';
import { optionValue } from './options.ts';
import { personNamed } from './people.ts';
import { monthOf } from './sentences/format.ts';
import { notAMonth, unknownPerson } from './sentences/refusals.ts';
import { usageCard } from './sentences/usage.ts';
import { privately, refused, type Subcommand, teamOf } from './subcommand.ts';

const options: readonly OptionDeclaration[] = [
  {
    name: 'who',
    description: 'Whose spend',
    kind: 'person',
    required: false,
    positional: true,
    repeated: false,
    defaultWords: 'everyone',
  },
  {
    name: 'month',
    description: 'Year and month, such as 2026-11',
    kind: 'text',
    required: false,
    positional: false,
    repeated: false,
    autocomplete: 'month',
    defaultWords: 'this month',
  },
];

/** `/video usage`: the spend of a month. */
export const usage: Subcommand = {
  declaration: {
    name: 'usage',
    description: 'Adds up what was spent in a month',
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
    const entries = await ports.ledger.month({ ...teamOf(caller), user: person?.id }, month);
    return privately(usageCard({ month, who: person, entries }));
  },
};
