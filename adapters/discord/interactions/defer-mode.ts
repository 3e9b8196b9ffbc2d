import { type APIInteraction, InteractionType } from 'discord.js';
import { isAnsweredInPlace, parseButton } from '#commands/ui/buttons.ts';
import type { DeferMode } from './response.ts';

/** Returns the defer mode of a button: the time until its interaction is deferred, and the visibility of that. */
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

/** Returns whether a private response replaces the message whose button was pressed. */
export function isInPlace(interaction: APIInteraction): boolean {
  return interaction.type === InteractionType.MessageComponent && isAnsweredInPlace(interaction.data.custom_id);
}
