import type { Caller, OptionDeclaration, Reply } from '../bot-port.ts';
import { optionValue } from '../input/options.ts';
import { type BotPorts, privately, refused, type Subcommand, teamOf } from '../input/subcommand.ts';
import {
  EXPORT_FOLLOWS,
  EXPORT_SENT,
  EXPORT_UNDELIVERABLE,
  notAPrivacyAction,
  privacyCard,
} from '../sentences/cards/privacy.ts';

const options: readonly OptionDeclaration[] = [
  {
    name: 'what',
    description: 'What to do with your data; shows what is stored if left out',
    kind: 'text',
    positional: true,
    choices: [{ value: 'export', label: 'export: sends you your data as a file' }],
  },
];

const ACTIONS = (options[0]?.choices ?? []).map(({ value }) => value);

/** `/video privacy`: says what is stored about the caller, and gives it to them. */
export const privacy: Subcommand = {
  declaration: {
    name: 'privacy',
    description: 'Shows what is stored about you, and sends it to you',
    example: '/video privacy export',
    options,
    visibility: 'private',
  },
  run: async (ports, caller, given) => {
    const what = optionValue(given, 'what')?.toLowerCase();
    if (what === undefined) return privately(privacyCard());
    return what === 'export' ? sendExport(ports, caller) : refused(notAPrivacyAction(what, ACTIONS));
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
  if (outcome === 'undeliverable') return refused(EXPORT_UNDELIVERABLE);
  const line = [outcome === 'posted' ? EXPORT_SENT : EXPORT_FOLLOWS];
  return privately({ lines: [line], progress: null, buttons: [] });
}
