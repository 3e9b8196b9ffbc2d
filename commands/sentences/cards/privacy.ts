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
  ]);
}

/** Says that the file was sent. */
export const EXPORT_SENT = 'I sent you your data as a file. Only you can see it.';

/** Says that the file is sent later, since the platform did not take it now. */
export const EXPORT_FOLLOWS = 'Your data follow: I couldn’t send the file right now and will try again.';

/** Refuses a file that cannot be sent. */
export const EXPORT_UNDELIVERABLE =
  'I couldn’t send you the file. Allow direct messages from this app, or from this server, and try again.';

/** Refuses an unknown action. */
export function notAPrivacyAction(typed: string, known: readonly string[]): string {
  return `“${typed}” is nothing that I can do with your data. Available: ${known.join(', ')}.`;
}
