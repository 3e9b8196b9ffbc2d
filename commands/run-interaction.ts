import type { MessageRef } from '#src/chat/index.ts';
import { asDailiesError, type DailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import type { TaskId } from '#src/tasks/index.ts';
import type { Bot, Caller, Form, Reply } from './bot-port.ts';
import { sentenceOf } from './sentences/errors.ts';
import { type Card, textCard } from './ui/card.ts';

export type ReplyOf<Kind extends Reply['kind']> = Extract<Reply, { readonly kind: Kind }>;

/** Place of a card: visible to the caller only, to everyone, or in the message whose button was pressed. */
export type Placement = 'private' | 'public' | 'in-place';

/** Response to one interaction, as an adapter presents it on its platform. */
export interface Responder {
  /** Acknowledges the interaction of a task, right before the task's message is shown. */
  acknowledge(task: TaskId): Promise<unknown>;
  show(card: Card, placement: Placement): Promise<unknown>;
  showForm(form: Form): Promise<unknown>;
  /** @param error set if the request failed rather than being refused */
  refuse(refusal: ReplyOf<'refused'>, error: DailiesError | null): Promise<unknown>;
  offer(offer: ReplyOf<'offer'>): Promise<unknown>;
}

/** An interaction, as an adapter decoded it. */
interface Interaction {
  readonly bot: Pick<Bot, 'show' | 'removed' | 'urgently'>;
  readonly logger: Logger;
  readonly caller: Caller;
  /** True if a private reply replaces the message whose button was pressed, as paging does. */
  readonly inPlace: boolean;
  /** Calls the bot; `null` for no response. */
  readonly ask: () => Promise<Reply | null>;
}

/**
 * Runs an interaction: calls the bot, and shows its reply or a sentence about its error. Rejects if that fails.
 * @returns the message of the task, where the reply is one.
 */
export function runInteraction(interaction: Interaction, responder: Responder): Promise<MessageRef | null> {
  return interaction.bot.urgently(() => respond(interaction, responder));
}

async function respond(interaction: Interaction, responder: Responder): Promise<MessageRef | null> {
  const { bot, logger, inPlace, ask } = interaction;
  const { platform, channel, interaction: id } = interaction.caller;
  const context = { platform, channel, interaction: id };
  let reply: Reply | null;
  let error: DailiesError | null = null;
  try {
    reply = (await bot.removed(interaction.caller)) ?? (await ask());
    logger.debug({ event: 'interaction_handled', ...context, reply: reply?.kind }, 'interaction handled');
  } catch (thrown) {
    error = asDailiesError(thrown, `answering interaction ${id}`);
    logger.warn({ event: 'interaction_failed', ...context, err: error, code: error.code }, 'interaction failed');
    reply = { kind: 'refused', sentence: sentenceOf(error) };
  }
  switch (reply?.kind) {
    case 'task': {
      await responder.acknowledge(reply.task);
      // A message that cannot be posted now is posted with the task's next update.
      const message = await bot.show(reply.task, reply.claimed);
      if (!inPlace || reply.settled === undefined) return message;
      const settled = textCard([`${reply.settled} `, { message, label: 'See it' }]);
      // The order stands, even if its question cannot be replaced.
      await responder
        .show(settled, 'in-place')
        .catch((err: unknown) =>
          logger.warn({ event: 'question_not_settled', ...context, err }, 'failed to replace an answered question'),
        );
      return message;
    }
    case 'private':
      await responder.show(reply.card, inPlace ? 'in-place' : 'private');
      break;
    case 'public':
      await responder.show(reply.card, 'public');
      break;
    case 'form':
      await responder.showForm(reply.form);
      break;
    case 'refused':
      await responder.refuse(reply, error);
      break;
    case 'offer':
      await responder.offer(reply);
      break;
    case undefined:
      break;
  }
  return null;
}
