import type { APIAttachment } from 'discord.js';
import { describe, expect, it } from 'vitest';
import { readFilledIn, readFormId, renderForm } from '#adapters/discord/interactions/modals.ts';
import type { Form } from '#commands/bot-port.ts';
import { createForm, editForm } from '#commands/input/forms.ts';
import { priceFingerprint } from '#src/videos/catalog.ts';
import type { Catalog, Model } from '#src/videos/model.ts';
import { ada, BotHouse } from '#test/fakes/bot-house.ts';
import { checkedModal } from '#test/fakes/discord/modal.ts';
import { CATALOG } from '../../../videos/models.ts';

/** Component of a modal, with the fields that these tests check. */
interface Rendered {
  readonly label: string;
  readonly description?: string;
  readonly component: {
    readonly type: number;
    readonly custom_id: string;
    readonly value?: string;
    readonly required: boolean;
    readonly options?: readonly { readonly value: string; readonly label: string; readonly default?: boolean }[];
  };
}

const formOf = (reply: ReturnType<typeof createForm>): Form => {
  if (reply.kind !== 'form') throw new TypeError('no form');
  return reply.form;
};

/** Renders a form as a modal, field by field. */
const rendered = (form: Form): readonly Rendered[] =>
  checkedModal(renderForm(form)).components as readonly unknown[] as readonly Rendered[];

const field = (form: Form, name: string): Rendered => {
  const found = rendered(form).find(({ component }) => component.custom_id === name);
  if (found === undefined) throw new TypeError(`no field ${name}`);
  return found;
};

const chosen = ({ component }: Rendered): readonly string[] =>
  (component.options ?? []).filter((one) => one.default === true).map(({ value }) => value);

const catalogOf = (...models: readonly [Model, ...Model[]]): Catalog => ({ models, defaultModel: models[0] });

describe('the form of an order', () => {
  const create = formOf(createForm(CATALOG));

  it('has a text input for the prompt and optional selects for the settings', () => {
    expect(rendered(create).map(({ label, component: { type, required } }) => [label, type, required])).toEqual([
      ['Prompt', 4, true],
      ['Model', 3, false],
      ['Length and price', 3, false],
      ['Aspect', 3, false],
      ['Resolution', 3, false],
    ]);
    expect(rendered(create).flatMap(chosen)).toEqual([]);
  });

  it('asks for the number of takes where the catalog leaves room: a modal holds five fields', () => {
    const one = { ...CATALOG.defaultModel, resolutions: ['720p'] } as const;
    expect(rendered(formOf(createForm(catalogOf(one)))).map(({ label }) => label)).toEqual([
      'Prompt',
      'Length and price',
      'Aspect',
      'Takes',
    ]);
    const takes = field(formOf(createForm(catalogOf(one))), 'takes').component.options;
    expect(takes?.map(({ value, label }) => [value, label])).toEqual([
      ['1', 'One clip'],
      ['2', '2 takes, each charged'],
      ['3', '3 takes, each charged'],
      ['4', '4 takes, each charged'],
    ]);
  });

  it('shows the prices of models and lengths, for any chosen model', () => {
    expect(field(create, 'model').component.options?.[0]).toEqual({
      value: 'swift-1',
      label: 'Swift 1 · $0.05/s · 4, 6 or 8 s · 4 s = $0.20 (default)',
    });
    expect(field(create, 'seconds').component.options).toEqual([
      { value: '4', label: '4 s', description: 'Swift 1 $0.20 · Plain $0.20' },
      { value: '5', label: '5 s', description: 'Epic Pro $1.20' },
      { value: '6', label: '6 s', description: 'Swift 1 $0.30 · Plain $0.30' },
      { value: '8', label: '8 s', description: 'Swift 1 $0.40 · Plain $0.40' },
      { value: '10', label: '10 s', description: 'Epic Pro $1.20' },
      { value: '15', label: '15 s', description: 'Epic Pro $1.20' },
    ]);
    const one = formOf(createForm(catalogOf(CATALOG.defaultModel)));
    expect(field(one, 'seconds').component.options?.[0]).toEqual({ value: '4', label: '4 s · $0.20' });
  });

  it('carries the fingerprint of its prices in its id', () => {
    const prices = priceFingerprint(CATALOG);
    const { custom_id: id } = renderForm({ ...create, id: `edit:${'f'.repeat(16)}` });
    expect(id.length).toBeLessThanOrEqual(100);
    expect(readFormId(id)).toEqual({ form: `edit:${'f'.repeat(16)}`, shown: { prices } });
    expect(readFormId('edit:7f3a')).toEqual({ form: 'edit:7f3a' });
  });

  it('prices the models for the length of the clip that it repeats', async () => {
    const task = await new BotHouse(CATALOG).seed(ada(), 'a red fox --seconds 6');
    expect(field(formOf(editForm(CATALOG, task)), 'model').component.options?.map(({ label }) => label)).toEqual([
      'Swift 1 · $0.05/s · 6 s = $0.30 (default)',
      'Epic Pro · $1.20/clip · only 5 to 15 s in steps of 5',
      'Plain · $0.05/s · 6 s = $0.30',
    ]);
  });

  it('is prefilled with the values of the clip that it repeats', async () => {
    const task = await new BotHouse(CATALOG).seed(ada(), 'a red fox');
    const form = formOf(editForm(CATALOG, task));
    expect(rendered(form).flatMap(chosen)).toEqual(['swift-1', '4', '16:9', '720p']);
    expect(field(form, 'prompt').component.value).toBe('a red fox');
  });

  it('leaves out fields that no model supports, and uses text inputs for more than 25 choices', () => {
    const long = { ...CATALOG.defaultModel, seconds: { min: 1, max: 60, step: 1 }, resolutions: [] };
    const form = formOf(createForm(catalogOf(long)));
    expect(rendered(form).map(({ component }) => component.custom_id)).not.toContain('resolution');
    expect(field(form, 'seconds')).toMatchObject({ label: 'Length: 1 to 60 s (default 1 s)', component: { type: 4 } });
  });

  it('warns if a prompt is too long for a form', async () => {
    const catalog = catalogOf({ ...CATALOG.defaultModel, promptMaxLength: 10_000 });
    const task = await new BotHouse(catalog).seed(ada(), 'fox '.repeat(1500));
    const { description, component } = field(formOf(editForm(catalog, task)), 'prompt');
    expect(component.value).toHaveLength(4000);
    expect(description).toBe(
      'Too long for a form: only the first 4,000 characters are here, and only they would be sent.',
    );
  });
});

describe('Fix it for a missing reference image', () => {
  const refused = async () => {
    const house = new BotHouse(CATALOG);
    const given = { prompt: ['a fox'], model: ['epic-pro'], seconds: ['5'], resolution: ['1080p'] };
    const reply = await house.bot.command(ada(), 'create', given);
    if (reply.kind !== 'refused') throw new TypeError('not refused');
    const opened = await house.bot.press(ada(), reply.buttons?.[0]?.id ?? '');
    if (opened.kind !== 'form') throw new TypeError('no form');
    return { house, form: opened.form };
  };

  it('accepts files, in place of the last setting', async () => {
    const { form } = await refused();
    expect(rendered(form).map(({ component }) => component.custom_id)).toEqual([
      'prompt',
      'model',
      'seconds',
      'aspect',
      'image',
    ]);
    expect(field(form, 'image')).toMatchObject({
      label: 'Reference images',
      component: { type: 19, required: false, min_values: 0, max_values: 9 },
    });
  });

  it('orders with the files and with the setting that was left out', async () => {
    const { house, form } = await refused();
    const attachment = { id: '7', url: 'https://cdn.example/fox.png' };
    const sent = readFilledIn([{ component: { type: 19, custom_id: 'image', values: ['7', 'unknown'] } }], {
      attachments: { 7: attachment as APIAttachment },
    });
    expect(sent).toEqual({ values: {}, attachments: [{ option: 'image', attachment }] });
    const values = { prompt: 'a fox', model: 'epic-pro', seconds: '5', aspect: '', image: attachment.url };
    const reply = await house.bot.submit(ada(), form.id, values);
    expect(reply.kind).toBe('task');
    expect(house.orders).toMatchObject([
      { request: { model: 'epic-pro', resolution: '1080p', media: { image: [attachment.url] } } },
    ]);
  });
});

it('reads an empty select as a field without a value', () => {
  const select = (values: readonly string[]) => [{ type: 18, component: { type: 3, custom_id: 'seconds', values } }];
  expect(readFilledIn(select([])).values).toEqual({ seconds: '' });
  expect(readFilledIn(select(['8'])).values).toEqual({ seconds: '8' });
});

it('limits a field to its own length, so that nothing typed is cut off later', () => {
  const reason = {
    name: 'reason',
    label: 'Reason',
    value: 'x'.repeat(400),
    required: false,
    long: false,
    maxLength: 300,
  };
  const form: Form = { id: 'deny:1', title: 'Deny', fields: [reason], submit: 'Deny' };
  expect(field(form, 'reason').component).toMatchObject({ max_length: 300, value: 'x'.repeat(300) });
});
