import type { Interaction, Message } from './records.ts';
import { Refusal } from './refusal.ts';
import type { World } from './world.ts';

/**
 * "You must send an initial response within 3 seconds." @see discord docs: interactions/receiving-and-responding,
 * "Interaction Callback"
 */
export const ANSWER_WITHIN_MS = 3_000;

/**
 * "Interaction tokens are valid for 15 minutes." @see discord docs: interactions/receiving-and-responding, "Followup
 * Messages"
 */
const LIFETIME_MS = 15 * 60_000;

/**
 * Returns the interaction if it still may get its first response.
 * @throws Refusal 404 10062 for an unknown or late one; 400 40060 for one that already has a response, without a
 * violation if the interaction was redelivered to the bot
 * @see discord docs: topics/opcodes-and-status-codes, 10062 and 40060
 */
export function answerable(world: World, id: string, token: string): Interaction {
  const interaction = world.interactions.get(id);
  if (interaction === undefined || interaction.token !== token) {
    throw new Refusal(404, 10062, { violation: `answer to an interaction that never was: ${id}` });
  }
  if (interaction.answer !== null) {
    const violation = `second answer to ${interaction.kind} ${id}`;
    throw new Refusal(400, 40060, world.repeated.has(id) ? {} : { violation });
  }
  const ageMs = world.clock.now() - interaction.createdMs;
  if (interaction.isExpired || ageMs > ANSWER_WITHIN_MS) {
    throw new Refusal(404, 10062, { violation: `late answer to ${interaction.kind} ${id}: after ${ageMs} ms` });
  }
  return interaction;
}

/**
 * Returns the interaction whose token is used as a webhook.
 * @throws Refusal 401 50027 after its 15 minutes, counted as a violation from the third use on, since a read of the
 * response and an edit of a message may be in flight at once; 404 10015 for an unknown token, and before the first
 * response
 * @param isRead true if the message is only read. Default false.
 */
export function usable(world: World, applicationId: string, token: string, isRead = false): Interaction {
  const interaction = world.interactions.values().find((one) => one.token === token);
  if (interaction === undefined || applicationId !== world.applicationId) {
    throw new Refusal(404, 10015, { violation: 'use of a webhook that never was' });
  }
  if (interaction.isExpired || world.clock.now() - interaction.createdMs > LIFETIME_MS) {
    interaction.usesAfterExpiry += 1;
    const isRepeated = interaction.usesAfterExpiry > 2;
    const violation = `${interaction.usesAfterExpiry} uses of the expired token of ${interaction.kind} ${interaction.id}`;
    throw new Refusal(401, 50027, isRepeated ? { violation } : {});
  }
  if (interaction.answer === null) {
    // After a lost confirmation the bot can only read whether its response arrived.
    throw new Refusal(
      404,
      10015,
      isRead ? {} : { violation: `use of the token of ${interaction.id} before its answer` },
    );
  }
  return interaction;
}

/**
 * Returns a message that an interaction's token may read, edit and delete: its first response and its follow-ups. For
 * an update response (6, 7) the message of the component counts as the first response.
 * @param name a message id or `@original`
 * @throws Refusal 404 10008
 */
export function ownMessage(world: World, interaction: Interaction, name: string): Message {
  const id = name === '@original' ? interaction.originalId : name;
  const isOwn = id === interaction.originalId || interaction.followupIds.includes(id ?? '');
  const message = id === null || !isOwn ? undefined : world.messages.get(id);
  if (message === undefined || message.isDeleted) throw new Refusal(404, 10008);
  return message;
}
