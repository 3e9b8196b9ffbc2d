import type { Caller, OptionDeclaration, Reply } from '../bot-port.ts';
import { optionValue } from '../input/options.ts';
import { type BotPorts, privately, refused, type Subcommand, teamOf } from '../input/subcommand.ts';
import { EXPORT_FOLLOWS, EXPORT_SENT, notAPrivacyAction, privacyCard } from '../sentences/cards/privacy.ts';
import { fileNotSent } from '../sentences/money/csv.ts';
import { textCard } from '../ui/card.ts';
import { askToErase, askToForget } from './forget.ts';

const options: readonly OptionDeclaration[] = [
  {
    name: 'what',
    description: 'What to do with your data; shows what is stored if left out',
    kind: 'text',
    positional: true,
    choices: [
      { value: 'export', label: 'export: sends you your data as a file' },
      { value: 'forget', label: 'forget: removes your data, after a question' },
    ],
  },
];

const ACTIONS = (options[0]?.choices ?? []).map(({ value }) => value);

/** `privacy erase @ada`, as it may be typed for `/video erase_person @ada`. */
const ERASE = /^erase\s+(?<who>\S.*)$/iu;

/** `/video privacy`: says what is stored about the caller, gives it to them, and removes it. */
export const privacy: Subcommand = {
  declaration: {
    name: 'privacy',
    description: 'Shows what is stored about you, sends it to you, or removes it',
    example: '/video privacy export',
    options,
    visibility: 'private',
  },
  run: async (ports, caller, given) => {
    const what = optionValue(given, 'what')?.toLowerCase();
    if (what === undefined) return privately(privacyCard());
    if (what === 'export') return sendExport(ports, caller);
    if (what === 'forget') return askToForget();
    const named = ERASE.exec(optionValue(given, 'what') ?? '')?.groups?.['who'];
    return named === undefined ? refused(notAPrivacyAction(what, ACTIONS)) : askToErase(ports, caller, named);
  },
};

/** Sends the caller what is stored about them, privately and once per interaction. */
async function sendExport({ notices }: BotPorts, caller: Caller): Promise<Reply> {
  const { platform, channel, user, interaction } = caller;
  const outcome = await notices.postNow({
    key: ['person-export', platform, interaction],
    of: teamOf(caller),
    to: { kind: 'person', person: user, near: channel },
    notice: { kind: 'person_export', person: user },
  });
  if (outcome === 'undeliverable' || outcome === 'failed') return refused(fileNotSent(outcome === 'undeliverable'));
  const line = [outcome === 'posted' ? EXPORT_SENT : EXPORT_FOLLOWS];
  return privately(textCard(line));
}
