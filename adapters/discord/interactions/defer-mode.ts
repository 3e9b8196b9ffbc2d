import { type APIInteraction, InteractionType } from 'discord.js';
import { isAnsweredInPlace, parseButton } from '#commands/ui/buttons.ts';
import type { DeferMode } from './response.ts';

/** How long the answer to a button may take, and who sees that it does. */
export function deferModeOf(button: string): DeferMode {
  switch (parseButton(button)?.action) {
    case 'retry':
    case 'order':
      return 'public';
    case 'edit':
    case 'fix':
    case 'lookup':
      return 'form';
    case 'page':
    case 'discard':
    case 'notify':
      return 'update';
    default:
      return 'private';
  }
}

/** Whether a private answer takes the place of the message whose button was pressed. */
export function isInPlace(interaction: APIInteraction): boolean {
  return interaction.type === InteractionType.MessageComponent && isAnsweredInPlace(interaction.data.custom_id);
}
