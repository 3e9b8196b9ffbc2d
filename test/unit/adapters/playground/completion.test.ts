import { describe, expect, it } from 'vitest';
import { complete } from '#adapters/playground/page/composer/completion.js';
import { declarations } from '#commands/registry.ts';

const KNOWN = { users: ['ada', 'mary ann'], channels: ['general', 'clips'] };

/** Returns the completion with the caret at `|`, or at the end. */
function at(marked: string) {
  const caret = marked.includes('|') ? marked.indexOf('|') : marked.length;
  const text = marked.replace('|', '');
  const found = complete(text, caret, declarations, KNOWN);
  const labels: string[] = found.offers.map(({ label }: { label: string }) => label);
  /** Text after the first offer is accepted. */
  const taken = (index = 0): string =>
    text.slice(0, found.from) + (found.offers[index]?.insert ?? '') + text.slice(found.to);
  return { ...found, labels, taken };
}

describe('completion of a command', () => {
  it('offers every subcommand for a slash, and accepts the first on Enter', () => {
    const found = at('/');
    expect(found.labels).toEqual(declarations.map(({ name }) => `/video ${name}`));
    expect(found).toMatchObject({ isEager: true });
    expect(found.taken()).toBe('/video create ');
  });

  it('filters the offers by prefix', () => {
    expect(at('/vid').labels).toHaveLength(declarations.length);
    expect(at('/video st').labels).toEqual(['/video status', '/video storyboard', '/video style', '/video statement']);
    expect(at('/video st').taken()).toBe('/video status ');
    expect(at('/other').offers).toEqual([]);
  });

  it('lets Enter send a complete name and a bare /video', () => {
    expect(at('/video usage').isEager).toBe(false);
    expect(at('/video').isEager).toBe(false);
  });

  it('offers a command for plain text', () => {
    expect(at('a red fox').taken()).toBe('/video create a red fox');
    expect(at('').offers).toEqual([]);
  });
});

describe('completion of options', () => {
  it('offers nothing within a prompt, but lists the options', () => {
    const found = at('/video create a red fox ');
    expect(found.offers).toEqual([]);
    expect(found.hint?.title).toBe('prompt');
    expect(found.options.map(({ name }: { name: string }) => name)).toContain('seconds');
  });

  it('treats text without a subcommand as a prompt', () => {
    expect(at('/video a red fox --sec').taken()).toBe('/video a red fox --seconds ');
  });

  it('offers the options not given yet, and reference media repeatedly', () => {
    const labels = at('/video create a fox --seconds 4 --image https://a.example/1.png --').labels;
    expect(labels).not.toContain('--seconds');
    expect(labels).toEqual(expect.arrayContaining(['--model', '--aspect', '--image']));
  });

  it('completes in the middle of a line', () => {
    expect(at('/video create a fox --mo| and more').taken()).toBe('/video create a fox --model  and more');
  });

  it('requests suggestions from the server, with the options given so far', () => {
    const { question, isEager } = at('/video create a "red fox" --model swift-1 --seconds ');
    expect(question).toEqual({
      command: 'create',
      option: 'seconds',
      typed: '',
      given: { prompt: ['a', 'red fox'], model: ['swift-1'], seconds: [] },
    });
    expect(isEager).toBe(false);
  });

  it('requests tasks for an id, and lets Enter send without an optional one', () => {
    expect(at('/video cancel 7f').question).toMatchObject({ command: 'cancel', typed: '7f' });
    expect(at('/video status ')).toMatchObject({ question: { command: 'status', typed: '' }, isEager: false });
  });

  it('offers known users and channels, quoted where they contain spaces', () => {
    expect(at('/video list --who ').labels).toEqual(['me', 'everyone', 'ada', 'mary ann']);
    expect(at('/video list --who mary').taken()).toBe('/video list --who "mary ann" ');
    expect(at('/video notify --channel #cl').taken()).toBe('/video notify --channel #clips ');
  });

  it('lets Enter send a complete value', () => {
    expect(at('/video list --who me').isEager).toBe(false);
    expect(at('/video list --who ad').isEager).toBe(true);
  });

  it('continues after a flag without a value', () => {
    expect(at('/video notify --off --ch').taken()).toBe('/video notify --off --channel ');
  });
});
