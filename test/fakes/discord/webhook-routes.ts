import { ANSWER_FLAGS, answer } from './callback-route.ts';
import { checkedMessage } from './message-form.ts';
import { type Draft, edit } from './posting.ts';
import { FLAGS, type Interaction } from './records.ts';
import { Refusal } from './refusal.ts';
import { remove } from './removing.ts';
import { type Call, ok, type Route } from './routes.ts';
import { ownMessage, usable } from './tokens.ts';
import { messageJson } from './wire.ts';

/** "Apps are limited to 5 followup messages per interaction": "Create Followup Message". */
const MAX_FOLLOWUPS = 5;

const interactionOf = ({ world, at }: Call, isRead = false): Interaction =>
  usable(world, at('application'), at('token'), isRead);

const draftOf = ({ json, files }: Call, interaction: Interaction, flags: number): Draft => ({
  form: checkedMessage(json),
  files,
  maxBytes: interaction.maxFileBytes,
  isLimitKnown: true,
  mentions: 'webhook',
  flags,
});

/**
 * Routes for messages by an interaction's token, without authorization.
 * @see discord docs: interactions/receiving-and-responding, "Followup Messages"; resources/webhook, "Edit Webhook
 * Message"
 */
export const webhookRoutes = {
  'POST /webhooks/:application/:token': {
    by: 'token',
    bucket: 'webhook',
    handle(call) {
      const { world } = call;
      const interaction = interactionOf(call);
      const original = interaction.originalId === null ? undefined : world.messages.get(interaction.originalId);
      if (original !== undefined && !original.isDeleted && (original.flags & FLAGS.loading) !== 0) {
        // "This behavior is deprecated, and you should use the Edit Original Interaction Response endpoint."
        world.violate(`follow-up to ${interaction.id} in place of its deferred answer`);
        edit(world, original, draftOf(call, interaction, ANSWER_FLAGS));
        return ok(messageJson(world, original));
      }
      if (interaction.isUserInstall && interaction.followupIds.length >= MAX_FOLLOWUPS) {
        throw new Refusal(400, 40094, { violation: `more than ${MAX_FOLLOWUPS} follow-ups to ${interaction.id}` });
      }
      const message = answer(world, interaction, draftOf(call, interaction, ANSWER_FLAGS));
      interaction.followupIds.push(message.id);
      return ok(messageJson(world, message));
    },
  },
  'GET /webhooks/:application/:token/messages/:message': {
    by: 'token',
    bucket: 'webhook',
    handle: (call) =>
      ok(messageJson(call.world, ownMessage(call.world, interactionOf(call, true), call.at('message')))),
  },
  'PATCH /webhooks/:application/:token/messages/:message': {
    by: 'token',
    bucket: 'webhook',
    handle(call) {
      const { world } = call;
      const interaction = interactionOf(call);
      const message = ownMessage(world, interaction, call.at('message'));
      edit(world, message, draftOf(call, interaction, FLAGS.suppressEmbeds | FLAGS.v2));
      return ok(messageJson(world, message));
    },
  },
  'DELETE /webhooks/:application/:token/messages/:message': {
    by: 'token',
    bucket: 'webhook',
    handle(call) {
      remove(call.world, ownMessage(call.world, interactionOf(call), call.at('message')));
      return undefined;
    },
  },
} as const satisfies Record<string, Route>;
