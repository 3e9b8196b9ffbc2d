import { COMPARED, checkRequest, type RequestDraft } from '#src/videos/index.ts';
import type { GivenOptions, OptionDeclaration } from '../bot-port.ts';
import { create } from '../create.ts';
import { optionValue } from '../input/options.ts';
import type { Subcommand } from '../input/subcommand.ts';
import { orderDraft, requestDraft } from '../orders/place-order.ts';
import { refusalProblems } from '../sentences/refusals.ts';
import { pressComparison } from './press.ts';

const MODELS: OptionDeclaration = {
  name: 'models',
  description: `Which models to compare, ${COMPARED.min} to ${COMPARED.max}, separated by commas`,
  kind: 'text',
  required: true,
  isList: 'commas',
  maxLength: 500,
  autocomplete: 'models',
};

/** Options of `/video create` that mean nothing to a comparison. */
const OTHERS: ReadonlySet<string> = new Set(['prompt', 'model', 'takes']);

const { options } = create.declaration;

/** `/video compare`: one clip of a prompt by each of several models, blind until the reveal. */
export const compare: Subcommand = {
  declaration: {
    name: 'compare',
    description: 'Compares models: one clip with each, a vote, then their names',
    example: '/video compare a red fox in snow --models swift-1,epic-pro',
    options: [
      ...options.filter(({ name }) => name === 'prompt'),
      MODELS,
      ...options.filter(({ name }) => !OTHERS.has(name)),
    ],
    visibility: 'public',
    buys: true,
  },
  check: (ports, given, { fields }) => refusalProblems(checkRequest(ports.catalog(), comparisonDraft(given)), fields),
  run: (ports, caller, given) => orderDraft(ports, caller, comparisonDraft(given)),
  presses: { vote: pressComparison, reveal: pressComparison, prefer: pressComparison, remake: pressComparison },
};

/** Builds a request from the options of `/video compare`. */
export function comparisonDraft(given: GivenOptions): RequestDraft {
  return { ...requestDraft(given), models: optionValue(given, 'models') ?? '' };
}
