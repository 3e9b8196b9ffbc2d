import { taskIdOf } from '#src/pipeline/index.ts';
import { type Checked, draftOfOrder, namesIn, withNames } from '#src/videos/index.ts';
import type { Caller, Reply } from '../bot-port.ts';
import { distance } from '../input/closest-match.ts';
import type { BotPorts } from '../input/subcommand.ts';
import { offerRequest, orderKey } from './offers.ts';
import type { Ordering } from './place-order.ts';

/** Largest edit distance between the name of an image and a misspelling of it; of a short name, half of its letters. */
const MAX_EDITS = 2;

/**
 * Asks about words of a prompt that are probably misspelt names of library images: with the images, or with the words as
 * they are, without their `@`. Does not ask where a press repeats a clip as it was.
 * @returns `null` if there are none, or the order was claimed before.
 */
export async function askAboutNames(
  ports: BotPorts,
  caller: Caller,
  checked: Extract<Checked, { readonly ok: true }>,
  { draft: _draft, ask: _ask, ...identity }: Ordering,
): Promise<Reply | null> {
  const { references = [] } = ports.catalog();
  if (references.length === 0 || identity.press !== undefined) return null;
  const request = draftOfOrder(checked);
  const meant = new Map<string, string>();
  for (const typed of namesIn(request)) {
    const [near] = references
      .map(({ name }) => ({ name, edits: distance(typed, name) }))
      .filter(({ name, edits }) => edits > 0 && edits <= Math.min(MAX_EDITS, name.length / 2))
      .toSorted((one, other) => one.edits - other.edits);
    if (near !== undefined) meant.set(typed, near.name);
  }
  if (meant.size === 0) return null;
  if ((await ports.tasks.get(taskIdOf(identity.key ?? orderKey(caller)))) !== undefined) return null;
  const kept = withNames(request, (name) => (meant.has(name.toLowerCase()) ? name : undefined));
  const names = new Map([...meant].map(([typed, right]) => [typed, `@${right}`]));
  const alternative = withNames(request, (name) => names.get(name.toLowerCase()));
  const reason = { kind: 'names', typed: [...meant.keys()], meant: [...new Set(meant.values())] } as const;
  return offerRequest(ports, caller, { ...identity, request: kept }, { reason, alternative });
}
