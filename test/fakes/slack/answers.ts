import { z } from 'zod';
import { checked, flag, json } from './form.ts';
import { checkedContents, content, post } from './posting.ts';
import type { Envelope, Json } from './records.ts';
import { Refusal } from './refusal.ts';
import { takesPayload } from './socket.ts';
import { applyView, checkedView, closeView, openView } from './viewing.ts';
import { present, type World } from './world.ts';

/**
 * Schema of the response to a command, or of a request to a response_url. @see
 * docs.slack.dev/interactivity/handling-user-interaction "Message responses"
 */
export const response = z.strictObject({
  ...content,
  response_type: z.enum(['ephemeral', 'in_channel']).optional(),
  replace_original: flag.optional(),
  delete_original: flag.optional(),
  thread_ts: z.string().optional(),
});

/** @see docs.slack.dev/surfaces/modals "Updating and pushing", "Displaying errors": response_action */
const viewAnswer = z.discriminatedUnion('response_action', [
  z.strictObject({ response_action: z.literal('update'), view: json(z.unknown()) }),
  z.strictObject({ response_action: z.literal('push'), view: json(z.unknown()) }),
  z.strictObject({ response_action: z.literal('clear') }),
  z.strictObject({ response_action: z.literal('errors'), errors: z.record(z.string(), z.string().min(1)) }),
]);

/** Applies an acknowledgement's payload; an invalid one is a violation. */
export function applyAnswer(world: World, envelope: Envelope, payload: Json): void {
  const { type } = envelope;
  try {
    if (type === 'view_submission') submitAnswer(world, envelope, payload);
    else if (Object.keys(payload).length === 0) return;
    else if (type === 'command') sayAnswer(world, envelope, payload);
    else if (!takesPayload(type))
      world.violate(`the acknowledgement of ${type} says something: ${JSON.stringify(payload)}`);
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
    world.violate(`answer to ${type}: ${thrown.violation ?? thrown.error}`);
  }
}

/** "Responding to commands with an immediate message". @see docs.slack.dev/interactivity/implementing-slash-commands */
function sayAnswer(world: World, { channelId, userId }: Envelope, payload: Json): void {
  const what = 'answer to a command';
  const form = checked(response, payload, { what });
  const channel = world.channel(channelId ?? '');
  const authorId = world.team(channel.teamId).botUserId;
  const visibleTo = form.response_type === 'in_channel' ? null : userId;
  post(world, { channel, authorId, threadTs: null, visibleTo }, checkedContents(world, form, { what }));
}

/** Without a response action the view closes. @see docs.slack.dev/surfaces/modals "Closing views" */
function submitAnswer(world: World, { viewId, userId }: Envelope, payload: Json): void {
  const view = present(world.views.get(viewId ?? ''), 'view');
  if (Object.keys(payload).length === 0) {
    closeView(world, view);
    return;
  }
  const answer = checked(viewAnswer, payload, { what: 'answer to a view_submission' });
  switch (answer.response_action) {
    case 'update':
      applyView(view, checkedView(answer.view, 'modal'));
      break;
    case 'push':
      openView(world, { teamId: view.teamId, userId, previous: view }, checkedView(answer.view, 'modal'));
      break;
    case 'clear':
      for (const one of world.views.values()) if (one.rootId === view.rootId) one.isOpen = false;
      break;
    case 'errors': {
      const inputs = new Set(view.blocks.filter(({ type }) => type === 'input').map(({ block_id: id }) => id));
      const strange = Object.keys(answer.errors).filter((id) => !inputs.has(id));
      if (strange.length > 0) world.violate(`errors for what are no input blocks: ${strange.join(', ')}`);
      view.errors = answer.errors;
      break;
    }
  }
}
