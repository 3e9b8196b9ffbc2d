import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Node, parseSync, Visitor } from 'oxc-parser';
import { expect, it } from 'vitest';

// The kinds of tests that failed now and then: waiting for a time instead of a state, listening after acting, counting
// what may come later, sharing a server.

const TOP = join(import.meta.dirname, '../../..');
/** Shortest bound of a wait, in milliseconds: on a slow and busy machine, a state may be reached that late. */
const MIN_BOUND_MS = 300_000;
/** Tests and hooks, and waits of a fake chat, of a page and of what a page shows: those have a long bound by default. */
const BOUND_BY_DEFAULT = /^(?:it|test|(?:before|after)(?:All|Each)|(?!vi\.).*\.(?:until|goto|click|waitFor\w*))$/u;
/** The services that a machine of the CI runs for everybody. */
const SHARED_SERVER = /(?:127\.0\.0\.1|localhost):(?:6379|5432|3306|5672)\b/u;

const KINDS = {
  bound: 'a wait needs a bound of at least 5 minutes',
  sleep: 'wait for a state instead of a time',
  listener: 'listen before acting: start waitForEvent in the Promise.all of the action',
  count: 'the rest may come later: expect.poll(() => ….count())',
  server: 'start a server of its own',
} as const;

function nameOf(callee: Node): string {
  if (callee.type === 'Identifier') return callee.name;
  if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return '';
  const { object } = callee;
  return object.type === 'Identifier' ? `${object.name}.${callee.property.name}` : `.${callee.property.name}`;
}

/** Returns the bound that a wait is given, in milliseconds; `null` for one that is not written there. */
function boundOf(options: Node | undefined): number | null {
  if (options === undefined) return 0;
  if (options.type === 'Literal') return Number(options.value);
  if (options.type !== 'ObjectExpression') return null;
  for (const property of options.properties)
    if (property.type === 'Property' && property.key.type === 'Identifier' && property.key.name === 'timeout')
      return property.value.type === 'Literal' ? Number(property.value.value) : null;
  return 0;
}

/** Counting what a page shows. */
function isCount({ callee }: { readonly callee: Node }): boolean {
  return (
    callee.type === 'MemberExpression' && callee.property.type === 'Identifier' && callee.property.name === 'count'
  );
}

/** Returns what a test waits for wrongly, by its kind. */
function mistakesIn(path: string, source: string): readonly string[] {
  const found: string[] = [];
  const note = (kind: keyof typeof KINDS, { start }: Node): void =>
    void found.push(`${path}:${source.slice(0, start).split('\n').length}: ${KINDS[kind]}`);
  const look = (text: unknown, node: Node): void => {
    if (typeof text === 'string' && SHARED_SERVER.test(text)) note('server', node);
  };
  new Visitor({
    ImportDeclaration(node) {
      const names = node.specifiers.map(({ local }) => local.name);
      if (node.source.value === 'node:timers/promises' && names.some((name) => name !== 'setImmediate'))
        note('sleep', node);
    },
    NewExpression(node) {
      const [body] = node.arguments;
      if (nameOf(node.callee) !== 'Promise' || body?.type !== 'ArrowFunctionExpression') return;
      if (body.body.type === 'CallExpression' && nameOf(body.body.callee) === 'setTimeout') note('sleep', node);
    },
    CallExpression(node) {
      const name = nameOf(node.callee);
      const bound = boundOf(node.arguments[1]);
      if (/^vi\.wait(?:For|Until)$/u.test(name) && bound !== null && bound < MIN_BOUND_MS) note('bound', node);
      const isGiven = node.arguments[1] !== undefined && bound !== null && bound > 0;
      if (name === 'expect.poll' && isGiven && bound < MIN_BOUND_MS) note('bound', node);
      const byDefault = name.endsWith('.setDefaultTimeout') ? boundOf(node.arguments[0]) : null;
      if (byDefault !== null && byDefault < MIN_BOUND_MS) note('bound', node);
      const own = BOUND_BY_DEFAULT.test(name) ? (boundOf(node.arguments.at(-1)) ?? 0) : 0;
      if (own > 0 && own < MIN_BOUND_MS) note('bound', node);
      const [counted] = node.arguments;
      if (name !== 'expect' || counted?.type !== 'AwaitExpression') return;
      const { argument } = counted;
      if (argument.type === 'CallExpression' && argument.arguments.length === 0 && isCount(argument))
        note('count', node);
    },
    AwaitExpression(node) {
      if (node.argument.type === 'CallExpression' && nameOf(node.argument.callee).endsWith('.waitForEvent'))
        note('listener', node);
    },
    Literal: (node) => look(node.value, node),
    TemplateElement: (node) => look(node.value.cooked, node),
  }).visit(parseSync(path, source).program);
  return found;
}

it.each([
  ['vi.waitFor(() => x(), 5_000);', KINDS.bound],
  ['vi.waitFor(() => x());', KINDS.bound],
  ['vi.waitUntil(x, { interval: 1 });', KINDS.bound],
  ['expect.poll(x, { timeout: 60_000 }).toBe(1);', KINDS.bound],
  ['page.setDefaultTimeout(20_000);', KINDS.bound],
  ["it('x', () => x(), 60_000);", KINDS.bound],
  ["discord.until(x, 'a card', 20_000);", KINDS.bound],
  ["page.waitForSelector('a', { timeout: 60_000 });", KINDS.bound],
  ["import { setTimeout } from 'node:timers/promises';", KINDS.sleep],
  ['await new Promise((done) => setTimeout(done, 2));', KINDS.sleep],
  ["await page.click('a'); await page.waitForEvent('page');", KINDS.listener],
  ["expect(await page.locator('a').count()).toBe(2);", KINDS.count],
  ["const url = 'redis://127.0.0.1:6379';", KINDS.server],
])('finds %s', (source, kind) => {
  expect(mistakesIn('a.ts', source)).toEqual([`a.ts:1: ${kind}`]);
});

it('allows waits for a state', () => {
  const source = `vi.waitFor(x, 300_000); vi.waitFor(x, WITHIN); expect.poll(x).toBe(1); discord.until(x, 'a card'); page.click('a'); expect.poll(x, { timeout: 400_000 });
await Promise.all([page.waitForEvent('page'), page.click('a')]); await expect.poll(() => page.locator('a').count()).toBe(2);
import { setImmediate } from 'node:timers/promises';`;
  expect(mistakesIn('a.ts', source)).toEqual([]);
});

it('holds for every test', () => {
  const files = globSync('test/{unit,contract,e2e,fuzz,fakes}/**/*.ts', { cwd: TOP }).concat(
    globSync('test/chaos/**/*.test.ts', { cwd: TOP }),
  );
  expect(files.length).toBeGreaterThan(300);
  const others = files.filter((file) => file !== 'test/unit/house/waits.test.ts');
  expect(others.flatMap((file) => mistakesIn(file, readFileSync(join(TOP, file), 'utf8')))).toEqual([]);
});
