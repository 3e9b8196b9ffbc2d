import type { Person } from '#src/tasks/index.ts';
import type { Caller, OptionDeclaration, Reply } from '../bot-port.ts';
import { optionValue } from '../input/options.ts';
import { anyoneNamed, personWithId, withoutMarkup } from '../input/people.ts';
import { sendFile } from '../input/send-file.ts';
import { type BotPorts, privately, refused, type Subcommand, teamOf } from '../input/subcommand.ts';
import { administratorsOnly } from '../sentences/access.ts';
import { unknownPerson } from '../sentences/refusals.ts';
import { button, MAX_ID_LENGTH, type Press } from '../ui/buttons.ts';
import { type Card, type CardButton, layOut, small } from '../ui/card.ts';

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
    if (what === 'forget') return privately(forgetQuestion());
    const named = ERASE.exec(optionValue(given, 'what') ?? '')?.groups?.['who'];
    if (named !== undefined) return askToErase(ports, caller, named);
    return refused(`“${what}” is nothing that I can do with your data. Available: ${ACTIONS.join(', ')}.`);
  },
  presses: { privacy: pressPrivacy },
};

/** Sends the caller what is stored about them. */
function sendExport(ports: BotPorts, caller: Caller): Promise<Reply> {
  return sendFile(ports, caller, {
    key: 'person-export',
    notice: { kind: 'person_export', person: caller.user },
    sent: 'I sent you what I store about you. Only you can see it.',
    follows: 'I’m putting your data together. I’ll send it to you alone.',
  });
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
    if (named !== undefined) return askToErase(ports, caller, named);
    const what = ' removes what I store about a person, after a question; amounts stay.';
    return privately(layOut([[{ code: '/video erase_person @ada' }, what]]));
  },
};

async function askToErase(ports: BotPorts, caller: Caller, named: string): Promise<Reply> {
  if (!caller.mayAdminister) return refused(administratorsOnly(caller.platform));
  const person = await anyoneNamed(ports, caller, named);
  if (person === null || person === 'everyone') return refused(unknownPerson(withoutMarkup(named), '@name'));
  const confirm = button({ action: 'privacy', what: 'erase', user: person.id }, 'Erase', 'danger');
  // No platform's ids are that long, but a name that was typed can be.
  if (confirm.id.length > MAX_ID_LENGTH) return refused(unknownPerson(withoutMarkup(named), '@name'));
  return privately(eraseQuestion(person, confirm));
}

/** Handles the press of a confirmation. The reply takes the place of the question. */
async function pressPrivacy(
  ports: BotPorts,
  caller: Caller,
  press: Extract<Press, { readonly action: 'privacy' }>,
): Promise<Reply> {
  if (press.what === 'forget') {
    await request(ports, caller, caller.user);
    const line = [
      'I’m forgetting you. It takes a few minutes, or until your clips in progress have ended. What you order from now ',
      'on is stored anew.',
    ];
    return privately(layOut([line]));
  }
  if (!caller.mayAdminister) return refused(administratorsOnly(caller.platform));
  await request(ports, caller, await personWithId(ports, caller, press.user));
  // It does not name the person: this message stays.
  const line = ['I’m erasing them. It takes a few minutes, or until their clips in progress have ended.'];
  return privately(layOut([line]));
}

function request({ forgetting }: BotPorts, caller: Caller, person: Person): Promise<void> {
  return forgetting.request({ ...teamOf(caller), person, actor: { person: caller.user, surface: 'button' } });
}

/** Says in a few lines what is stored about a person, and which commands there are. */
function privacyCard(): Card {
  return layOut([
    [{ strong: 'Your data' }],
    [
      'I store your id and name with each clip that you order: its prompt, settings, reference addresses, price and ',
      'messages, and the clip itself. Also your notifications, an approver role and a budget that name you. The video ',
      'service gets prompt, settings and references, but not who asked.',
    ],
    [{ code: '/video privacy export' }, ' sends you all of it as a file that only you can see.'],
    [{ code: '/video delete' }, ' removes one clip with its prompt and its messages.'],
    [{ code: '/video privacy forget' }, ' removes all of it, after a question; amounts stay without your name.'],
  ]);
}

const STAYS =
  'What stays: amounts, without a name; what lies at the video service and in its statements; reports that were posted; and messages that I can no longer edit, such as private replies whose time is over.';

/** Asks for the confirmation that the caller is to be forgotten. */
function forgetQuestion(): Card {
  return layOut(
    [
      [{ strong: 'Forget you?' }],
      [
        'I remove your clips with their prompts, reference files and messages here, your notifications, approver role ',
        'and budget, and your name from whatever else I store. This can’t be undone. To keep a copy, use ',
        { code: '/video privacy export' },
        ' first.',
      ],
      [
        'What is in progress ends first. Your requests for approval are withdrawn, shots that wait for the one before are ',
        'cancelled, unconfirmed clips are dismissed.',
      ],
      small(STAYS),
    ],
    { buttons: [button({ action: 'privacy', what: 'forget' }, 'Forget me', 'danger')] },
  );
}

function eraseQuestion(person: Person, confirm: CardButton): Card {
  return layOut(
    [
      [{ strong: 'Erase ' }, { person }, { strong: '?' }],
      [
        'I remove their clips with prompts, reference files and messages here, their notifications, approver role and ',
        'budget, and their name from whatever else I store. This can’t be undone. What is in progress ends first.',
      ],
      small(STAYS, ' The audit log keeps the fact, without their name.'),
    ],
    { buttons: [confirm] },
  );
}
