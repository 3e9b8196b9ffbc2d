import { checkRequest, MAX_TAKES, MEDIA_KINDS, SETTINGS } from '#src/videos/index.ts';
import type { Command, OptionDeclaration } from './bot-port.ts';
import { clipOption } from './input/options.ts';
import type { Subcommand } from './input/subcommand.ts';
import { orderDraft, requestDraft } from './orders/place-order.ts';
import { refusalProblems } from './sentences/refusals.ts';
import { MEDIA_WORDS } from './sentences/settings.ts';

const options: readonly OptionDeclaration[] = [
  {
    name: 'prompt',
    description: 'What the clip shows: subject, action, camera, scene, style',
    kind: 'text',
    required: true,
    positional: true,
    minLength: 1,
    // Discord's maximum for a string option; each model has its own limit.
    maxLength: 6000,
  },
  {
    name: 'model',
    description: 'Which model to use; see /video models',
    kind: 'text',
    autocomplete: 'model',
  },
  ...SETTINGS.map(clipOption),
  {
    name: 'takes',
    description: `How many clips to make of it, 1 to ${MAX_TAKES}; each is charged`,
    kind: 'integer',
    min: 1,
    max: MAX_TAKES,
    defaultWords: '1',
  },
  {
    name: 'style',
    description: 'Style of the team, whose words are added to the prompt; see /video style',
    kind: 'text',
    autocomplete: 'style',
  },
  ...MEDIA_KINDS.map(
    (name): OptionDeclaration => ({
      name,
      description: `Link to ${MEDIA_WORDS[name].link}`,
      kind: 'address',
      repeated: true,
      ...(name === 'image' ? { autocomplete: 'reference' } : {}),
    }),
  ),
];

const declaration: Command = {
  name: 'create',
  description: 'Creates a clip from a prompt',
  example: '/video create a red fox in snow --seconds 6',
  options,
  visibility: 'public',
  buys: true,
  alias: { name: 'clip', fields: ['prompt', 'model', 'seconds', 'aspect', 'image'] },
};

/** `/video create`: one task, or a set of takes. */
export const create: Subcommand = {
  declaration,
  check: (ports, given, { fields }) => refusalProblems(checkRequest(ports.catalog(), requestDraft(given)), fields),
  run: (ports, caller, given) => orderDraft(ports, caller, requestDraft(given)),
};
