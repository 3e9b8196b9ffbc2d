import { checkRequest } from '#src/videos/check.ts';
import type { Command, OptionDeclaration } from './bot-port.ts';
import type { Subcommand } from './input/subcommand.ts';
import { orderDraft, requestDraft } from './orders/place-order.ts';
import { refusalSentence } from './sentences/refusals.ts';

const reference = { kind: 'address', required: false, positional: false, repeated: true } as const;
const setting = { required: false, positional: false, repeated: false } as const;

const options: readonly OptionDeclaration[] = [
  {
    name: 'prompt',
    description: 'What the clip shows: subject, action, camera, scene, style',
    kind: 'text',
    required: true,
    positional: true,
    repeated: false,
    minLength: 1,
    // Discord's maximum for a string option; each model has its own limit.
    maxLength: 6000,
  },
  {
    ...setting,
    name: 'model',
    description: 'Which model to use; see /video models',
    kind: 'text',
    autocomplete: 'model',
  },
  { ...setting, name: 'seconds', description: 'Length in seconds', kind: 'integer', min: 1, autocomplete: 'seconds' },
  { ...setting, name: 'aspect', description: 'Aspect ratio, such as 16:9', kind: 'text', autocomplete: 'aspect' },
  { ...setting, name: 'resolution', description: 'Resolution, such as 720p', kind: 'text', autocomplete: 'resolution' },
  { ...reference, name: 'image', description: 'Link to a reference image' },
  { ...reference, name: 'audio', description: 'Link to reference audio' },
  { ...reference, name: 'video', description: 'Link to a reference video' },
];

const declaration: Command = {
  name: 'create',
  description: 'Creates a clip from a prompt',
  example: '/video create a red fox in snow --seconds 6',
  options,
  visibility: 'public',
};

/** `/video create`: one task. */
export const create: Subcommand = {
  declaration,
  check: (ports, given, { fields }) => {
    const checked = checkRequest(ports.catalog(), requestDraft(given));
    return checked.ok ? [] : checked.refusals.map((refusal) => refusalSentence(refusal, fields));
  },
  run: (ports, caller, given) => orderDraft(ports, caller, requestDraft(given)),
};
