import { globSync, readFileSync } from 'node:fs';
import { parseSync, Visitor } from 'oxc-parser';
import { expect, it } from 'vitest';

// Every purchase passes the checks of `commands/orders/place-order.ts`, or one of the two others. A new caller is a new way to
// buy: it needs a row in `test/unit/commands/orders/entry-points.test.ts`, which tests it with every rule, and a line here.

/** Callers of what orders a clip, with the rows of the table that lead there. */
const CALLERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  placeOrder: {
    'commands/orders/place-order.ts': 'orderDraft',
    'commands/orders/drafts.ts': 'buttons order, ask',
    'commands/orders/task-actions.ts': 'button retry, reaction',
    'commands/retry.ts': 'command retry',
    'commands/orders/sets.ts':
      'button retry and reaction of a set: sets.test.ts; button retry of a board with outdated shots: chain.test.ts',
    'commands/comparisons/remake.ts': 'button remake: comparisons.test.ts',
    'commands/input/forms.ts': 'forms create, edit, fix',
    'commands/storyboard/script.ts': 'command and form storyboard: storyboard.test.ts',
  },
  orderDraft: {
    'commands/create.ts': 'command create, texts, button run',
    'commands/comparisons/compare.ts': 'command compare',
  },
  'tasks.submit': { 'commands/orders/place-order.ts': 'placeOrder' },
  'tasks.resubmit': { 'commands/orders/resend.ts': 'button again' },
  'approvals.approve': { 'commands/approvals/decide.ts': 'button approve: approvals.test.ts' },
};

/** Returns the names of all called functions: `placeOrder`, and with its object `tasks.submit`. */
function calls(file: string): readonly string[] {
  const found: string[] = [];
  const nameOf = (node: { readonly type: string }): string => {
    if (node.type === 'Identifier' && 'name' in node) return String(node.name);
    return node.type === 'MemberExpression' && 'property' in node ? nameOf(node.property as { type: string }) : '';
  };
  new Visitor({
    CallExpression({ callee }) {
      if (callee.type === 'Identifier') found.push(callee.name);
      if (callee.type === 'MemberExpression') found.push(`${nameOf(callee.object)}.${nameOf(callee.property)}`);
    },
  }).visit(parseSync(file, readFileSync(file, 'utf8')).program);
  return found;
}

it('knows every caller of what buys a clip', () => {
  const files = globSync(['commands/**/*.ts', 'adapters/**/*.ts', 'src/**/*.ts']);
  const called = files.map((file) => ({ file: file.replaceAll('\\', '/'), names: new Set(calls(file)) }));
  for (const [name, known] of Object.entries(CALLERS)) {
    const callers = called.filter(({ names }) => names.has(name)).map(({ file }) => file);
    expect({ [name]: callers.toSorted() }).toEqual({ [name]: Object.keys(known).toSorted() });
  }
});
