import { startKinds } from '#adapters/discord/gateway/identify.ts';
import { discordSessions } from '#adapters/discord/gateway/shard.ts';
import { messageKinds as discordKinds } from '#adapters/discord/messages/message-store.ts';
import { playgroundMessages } from '#adapters/playground/message-store.ts';
import { playgroundResponses } from '#adapters/playground/response-cache.ts';
import { installationKinds } from '#adapters/slack/installation/workspaces.ts';
import { messageKinds as slackKinds } from '#adapters/slack/messages/message-store.ts';
import { RECORD_KINDS } from '#src/app/record-kinds.ts';
import type { AnyCollection } from '#src/engine/records/collection.ts';
import { table } from './generated.ts';

/** The kinds of record of the chat platforms. */
export const PLATFORM_KINDS: readonly AnyCollection[] = [
  ...discordKinds,
  discordSessions,
  ...startKinds,
  ...slackKinds,
  ...installationKinds,
  playgroundMessages,
  playgroundResponses,
];

/** Returns the table of what the store holds, by kind of record. */
export function recordTable(): string {
  const rows = [...RECORD_KINDS, ...PLATFORM_KINDS].map(({ name, holds, kept, personal }) => [
    `\`${name}\``,
    personal === 'nobody' ? `${holds}; no person` : holds,
    kept,
  ]);
  return table(['kind of record', 'personal data in it', 'kept'], rows);
}
