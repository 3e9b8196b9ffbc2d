import type { Person } from '#src/tasks/index.ts';
import { FORGET_BUTTON } from '../../ui/buttons.ts';
import { type Card, layOut } from '../../ui/card.ts';

/** Says in a few lines what is stored about a person, and which commands there are. */
export function privacyCard(): Card {
  return layOut([
    { kind: 'text', line: [{ strong: 'Your data' }] },
    {
      kind: 'text',
      line: [
        'I store your id and name with each clip that you order: its prompt, settings, reference addresses, price and ',
        'messages, and the clip itself. Also your notifications, an approver role and a budget that name you. The video ',
        'service gets prompt, settings and references, but not who asked.',
      ],
    },
    {
      kind: 'text',
      line: [{ code: '/video privacy export' }, ' sends you all of it as a file that only you can see.'],
    },
    {
      kind: 'text',
      line: [{ code: '/video delete' }, ' removes one clip with its prompt and its messages.'],
    },
    {
      kind: 'text',
      line: [
        { code: '/video privacy forget' },
        ' removes all of it, after a question; amounts stay without your name.',
      ],
    },
  ]);
}

const STAYS =
  'What stays: amounts, without a name; what lies at the video service and in its statements; reports that were posted; and messages that I can no longer edit, such as private replies whose time is over.';

/** Asks for the confirmation that the caller is to be forgotten. */
export function forgetQuestion(): Card {
  return layOut(
    [
      { kind: 'text', line: [{ strong: 'Forget you?' }] },
      {
        kind: 'text',
        line: [
          'I remove your clips with their prompts, reference files and messages here, your notifications, approver role ',
          'and budget, and your name from whatever else I store. This can’t be undone. To keep a copy, use ',
          { code: '/video privacy export' },
          ' first.',
        ],
      },
      {
        kind: 'text',
        line: [
          'What is in progress ends first. Your requests for approval are withdrawn, shots that wait for the one before are ',
          'cancelled, unconfirmed clips are dismissed.',
        ],
      },
      { kind: 'small', line: [STAYS] },
    ],
    { buttons: [{ id: FORGET_BUTTON, label: 'Forget me', style: 'danger' }] },
  );
}

/** Confirms that the caller is being forgotten. */
export function forgettingCard(): Card {
  return layOut([
    {
      kind: 'text',
      line: [
        'I’m forgetting you. It takes a few minutes, or until your clips in progress have ended. What you order from now ',
        'on is stored anew.',
      ],
    },
  ]);
}

export function eraseUsage(): Card {
  return layOut([
    {
      kind: 'text',
      line: [
        { code: '/video erase_person @ada' },
        ' removes what I store about a person, after a question; amounts stay.',
      ],
    },
  ]);
}

export function eraseQuestion(person: Person, button: string): Card {
  return layOut(
    [
      { kind: 'text', line: [{ strong: 'Erase ' }, { person }, { strong: '?' }] },
      {
        kind: 'text',
        line: [
          'I remove their clips with prompts, reference files and messages here, their notifications, approver role and ',
          'budget, and their name from whatever else I store. This can’t be undone. What is in progress ends first.',
        ],
      },
      { kind: 'small', line: [STAYS, ' The audit log keeps the fact, without their name.'] },
    ],
    { buttons: [{ id: button, label: 'Erase', style: 'danger' }] },
  );
}

/** Confirms that a person is being erased, without naming them: this message stays. */
export function erasingCard(): Card {
  return layOut([
    { kind: 'text', line: ['I’m erasing them. It takes a few minutes, or until their clips in progress have ended.'] },
  ]);
}

export const EXPORT_SENT = 'I sent you what I store about you. Only you can see it.';

/** Says that the file is on its way, or sent later since the platform did not take it now. */
export const EXPORT_FOLLOWS = 'I’m putting your data together. I’ll send it to you alone.';

/** Refuses an unknown action. */
export function notAPrivacyAction(typed: string, known: readonly string[]): string {
  return `“${typed}” is nothing that I can do with your data. Available: ${known.join(', ')}.`;
}
