import { expect, it } from 'vitest';
import { renderForm } from '#adapters/slack/interactions/modals.ts';

it('limits a field to its own length, so that nothing typed is cut off later', () => {
  const reason = { name: 'reason', label: 'Reason', value: 'x'.repeat(400), required: false, long: false };
  const form = { id: 'deny:1', title: 'Deny', fields: [{ ...reason, maxLength: 300 }, reason], submit: 'Deny' };
  const { blocks } = renderForm(form, { form: form.id, channel: 'C1', thread: null });
  expect(blocks).toMatchObject([
    { element: { max_length: 300, initial_value: 'x'.repeat(300) } },
    { element: { max_length: 3000, initial_value: 'x'.repeat(400) } },
  ]);
});
