import type { RequestDraft } from '#src/videos/index.ts';
import type { Caller, Command, Reply } from '../bot-port.ts';
import { storyboardForm } from '../input/forms.ts';
import { type BotPorts, refused, type Subcommand } from '../input/subcommand.ts';
import { draftOf } from '../orders/offers.ts';
import { mayNotCreateHere } from '../policy/rules-here.ts';
import { moveShot } from './board.ts';
import { chainNeeds } from './chain.ts';
import { orderScript, SHARED_OPTIONS, sharedIn, sharedOptions, splitScript } from './script.ts';

const declaration: Command = {
  name: 'storyboard',
  description: 'Creates a storyboard: 2 to 12 shots, which become one cut',
  example: '/video storyboard',
  options: [
    {
      name: 'shots',
      description: 'One shot per line, each with its own options if needed; without any, a form opens',
      kind: 'text',
      positional: true,
      perLine: true,
    },
    ...SHARED_OPTIONS,
  ],
  // Only its requester sees it until its price is confirmed.
  visibility: 'private',
  buys: true,
};

/** `/video storyboard`: a set of different shots; without any, a form. */
export const storyboard: Subcommand = {
  declaration,
  // `run` finds all problems, and brings the text back in a form.
  check: () => [],
  run: async (ports, caller, given) => {
    const { shared, text, problems } = splitScript(given['shots']?.join('\n') ?? '');
    const request = { ...sharedOptions({ ...given, ...shared }), script: text };
    const missing = request.chain === true ? ports.frames.missing() : [];
    if (missing.length > 0) return refused(chainNeeds(missing));
    if (text.trim() === '' && problems.length === 0) {
      const refusal = await mayNotCreateHere(ports, caller);
      return refusal === null ? openForm(ports, caller, request) : refused(refusal);
    }
    return orderScript(ports, caller, { request }, problems);
  },
  presses: { move: moveShot },
};

/** Opens the form; the options of the command are kept in a draft, since the form may have no room for all of them. */
async function openForm(ports: BotPorts, caller: Caller, request: RequestDraft): Promise<Reply> {
  const hasOptions = Object.keys(sharedIn(request)).length > 0;
  const saved = hasOptions ? await ports.drafts.save(draftOf(caller, { request })) : null;
  return storyboardForm(ports, saved?.draft.id ?? null, request);
}
