import { checkRequest } from '#src/videos/check.ts';
import type { RequestDraft } from '#src/videos/request.ts';
import type { Command, GivenOptions, OptionDeclaration } from './command.ts';
import { optionValue } from './options.ts';
import { orderDraft } from './ordering.ts';
import { refusalSentence } from './sentences/refusals.ts';
import type { Subcommand } from './subcommand.ts';

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
    // The most that Discord lets somebody type; each model has a limit of its own.
    maxLength: 6000,
  },
  { ...setting, name: 'model', description: 'Which model makes it', kind: 'text', autocomplete: 'model' },
  { ...setting, name: 'seconds', description: 'How long it is', kind: 'integer', min: 1, autocomplete: 'seconds' },
  { ...setting, name: 'aspect', description: 'Its shape, such as 16:9', kind: 'text', autocomplete: 'aspect' },
  { ...setting, name: 'resolution', description: 'Its size, such as 720p', kind: 'text', autocomplete: 'resolution' },
  { ...reference, name: 'image', description: 'Address of a reference image' },
  { ...reference, name: 'audio', description: 'Address of reference audio' },
  { ...reference, name: 'video', description: 'Address of a reference video' },
];

const declaration: Command = {
  name: 'create',
  description: 'Makes a clip from a prompt',
  example: '/video create a red fox in snow --seconds 6',
  options,
  visibility: 'public',
};

/** `/video create`: one task. */
export const create: Subcommand = {
  declaration,
  check: (ports, given) => {
    const checked = checkRequest(ports.catalog(), draftOf(given));
    return checked.ok ? [] : checked.refusals.map(refusalSentence);
  },
  run: (ports, caller, given) => orderDraft(ports, caller, draftOf(given)),
};

function draftOf(given: GivenOptions): RequestDraft {
  return {
    prompt: optionValue(given, 'prompt'),
    model: optionValue(given, 'model'),
    seconds: optionValue(given, 'seconds'),
    aspect: optionValue(given, 'aspect'),
    resolution: optionValue(given, 'resolution'),
    image: given['image'],
    audio: given['audio'],
    video: given['video'],
  };
}
