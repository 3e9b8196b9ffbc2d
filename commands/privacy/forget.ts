import type { Person } from '#src/tasks/index.ts';
import type { Caller, Reply } from '../bot-port.ts';
import { optionValue } from '../input/options.ts';
import { anyoneNamed, personWithId, withoutMarkup } from '../input/people.ts';
import { type BotPorts, privately, refused, type Subcommand, teamOf } from '../input/subcommand.ts';
import { administratorsOnly } from '../sentences/access.ts';
import { eraseQuestion, eraseUsage, erasingCard, forgetQuestion, forgettingCard } from '../sentences/cards/privacy.ts';
import { unknownPerson } from '../sentences/refusals.ts';
import { eraseButtonId, type PrivacyPress } from '../ui/privacy-buttons.ts';

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
export function askToForget(): Reply {
  return privately(forgetQuestion());
}

export async function askToErase(ports: BotPorts, caller: Caller, named: string): Promise<Reply> {
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
