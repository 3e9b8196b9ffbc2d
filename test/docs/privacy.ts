import '#adapters/discord/index.ts';
import '#adapters/playground/index.ts';
import '#adapters/slack/index.ts';
import '#src/app.ts';
import { recordKinds } from '#src/engine/records/collection.ts';
import { table } from './generated.ts';

/** Returns the table of what the store holds, by kind of record. */
export function recordTable(): string {
  const rows = [...recordKinds.values()]
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .map(({ name, holds, kept, personal }) => [
      `\`${name}\``,
      personal === 'nobody' ? `${holds}; no person` : holds,
      kept,
    ]);
  return table(['kind of record', 'personal data in it', 'kept'], rows);
}
