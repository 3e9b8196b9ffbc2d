import type { Person } from '#src/tasks/index.ts';
import type { Caller, OptionDeclaration, Reply } from '../bot-port.ts';
import { optionValue } from '../input/options.ts';
import { anyoneNamed, personWithId, withoutMarkup } from '../input/people.ts';
import { type BotPorts, privately, refused, type Subcommand, teamOf } from '../input/subcommand.ts';
import { administratorsOnly } from '../sentences/access.ts';
import {
  EXPORT_FOLLOWS,
  EXPORT_SENT,
  eraseQuestion,
  eraseUsage,
  erasingCard,
  forgetQuestion,
  forgettingCard,
  notAPrivacyAction,
  privacyCard,
} from '../sentences/cards/privacy.ts';
import { fileNotSent } from '../sentences/money/csv.ts';
import { unknownPerson } from '../sentences/refusals.ts';
import { eraseButtonId, type PrivacyPress } from '../ui/buttons.ts';
import { textCard } from '../ui/card.ts';

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

/** `/video erase_person`: forgets another person, such as one who left, after a question. */
export const erase: Subcommand = {
  declaration: {
    name: 'erase_person',
    description: 'Removes what is stored about a person; amounts stay',
    example: '/video erase_person @ada',
    options: [{ name: 'who', description: 'Person to erase', kind: 'person', positional: true }],
    visibility: 'private',
    isAdministrative: true,
  },
  run: async (ports, caller, given) => {
    const named = optionValue(given, 'who');
    return named === undefined ? privately(eraseUsage()) : askToErase(ports, caller, named);
  },
};

/** Asks the caller whether they want to be forgotten. */
function askToForget(): Reply {
  return privately(forgetQuestion());
}

async function askToErase(ports: BotPorts, caller: Caller, named: string): Promise<Reply> {
  if (!caller.mayAdminister) return refused(administratorsOnly(caller.platform));
  const person = await anyoneNamed(ports, caller, named);
  const button = person === null || person === 'everyone' ? null : eraseButtonId(person.id);
  return button === null || person === null || person === 'everyone'
    ? refused(unknownPerson(withoutMarkup(named), '@name'))
    : privately(eraseQuestion(person, button));
}

/** Handles the press of a confirmation. The reply takes the place of the question. */
export async function pressPrivacy(ports: BotPorts, caller: Caller, press: PrivacyPress): Promise<Reply> {
  if (press.what === 'forget') {
    await request(ports, caller, caller.user);
    return privately(forgettingCard());
  }
  if (!caller.mayAdminister) return refused(administratorsOnly(caller.platform));
  await request(ports, caller, await personWithId(ports, caller, press.user));
  return privately(erasingCard());
}

function request({ forgetting }: BotPorts, caller: Caller, person: Person): Promise<void> {
  return forgetting.request({ ...teamOf(caller), person, actor: { person: caller.user, surface: 'button' } });
}
