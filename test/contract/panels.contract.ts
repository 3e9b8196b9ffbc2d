import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Caller, Form, Reply } from '#commands/bot-port.ts';
import { field } from '#commands/ui/form-ids.ts';
import type { Approver } from '#src/tasks/approval.ts';
import type { PolicyRules } from '#src/teams/policy/policy.ts';
import type { SettingsPatch } from '#src/teams/settings-schema.ts';
import { BotHouse } from '#test/fakes/bot-house.ts';
import type { ScriptedBot } from '#test/fakes/scripted-bot.ts';
import { FORM_CATALOG, type ShownMessage } from './confirmation.contract.ts';

/** A form that the platform shows to an administrator. */
export interface ShownForm {
  /** As it was sent to the platform. */
  readonly sent: unknown;
  /**
   * Submits it. @param changes what is typed, or the ids of what is chosen, by the beginning of the field's name; the other
   * fields are left as they are.
   * @returns the errors at the fields of the form, which stays open; `null` where it was closed.
   */
  submit(changes: Readonly<Record<string, string | readonly string[]>>): Promise<readonly string[] | null>;
}

/** Platform under test, with a scripted bot and an administrator in one channel. */
export interface PanelHarness {
  readonly bot: ScriptedBot;
  readonly administrator: string;
  /** Ids of two people, a role or user group (`null`: there is neither), and a channel, with how values name them. */
  readonly people: readonly [string, string];
  readonly group: { readonly id: string; readonly value: string } | null;
  readonly channel: string;
  /** Sends `/video settings`. */
  command(): Promise<unknown>;
  messages(): Promise<readonly ShownMessage[]>;
  press(message: string, button: string): Promise<ShownForm>;
  /** Removes everything, and asserts that the platform saw nothing invalid. */
  remove(): Promise<void>;
}

const WITHIN = 300_000;

/** Settings, and rules, with as much as fits into them. */
const LONG = 'a'.repeat(1000);
const SETTINGS: SettingsPatch = {
  timeZone: 'Europe/Berlin',
  confirmAbove: { amount: '2', currency: 'USD' },
  unusualSpend: { amount: '20', currency: 'USD' },
  keepClips: { days: 90, fromMs: 0 },
  alerts: false,
  styles: [{ name: 'house', before: LONG, after: LONG, avoid: LONG, model: 'swift-1', seconds: 4, images: [LONG] }],
};
const RULES: PolicyRules = { seconds: [4, 6], clips: 3, style: 'house', words: ['blood'], resolutions: ['720p'] };
/** Buttons of the forms with values of today. */
const PANELS = [
  ...['amounts', 'months', 'clips'].map((group) => `panel:settings:${group}`),
  'panel:review:reviews',
  ...['team', 'channel.CHANNEL'].map((scope) => `panel:budget:amounts:${scope}`),
  'panel:approvers:approvers',
  ...['values', 'words', 'people', 'values:CHANNEL', 'people:CHANNEL'].map((group) => `panel:policy:${group}`),
  'panel:defaults:change',
  'panel:style:words:house',
  'panel:style:clips:house',
];

/** Contract of the forms of panels on every platform: each control, and the settings as the real command saves them. */
export function describePanels(name: string, start: () => Promise<PanelHarness>): void {
  describe(`the panels on ${name}`, () => {
    let harness: PanelHarness;
    let house: BotHouse;
    let administrator: Caller;

    beforeEach(async () => {
      harness = await start();
      house = new BotHouse(FORM_CATALOG);
      const { bot } = house;
      harness.bot.command = (caller, command, given) => {
        administrator = caller;
        return bot.command(caller, command, given as never);
      };
      harness.bot.text = (caller, text) => {
        administrator = caller;
        return bot.text(caller, text);
      };
      harness.bot.press = (caller, button) => bot.press(caller, button);
      harness.bot.submit = (caller, form, values) => bot.submit(caller, form, values as never);
    });

    afterEach(() => harness.remove());

    const team = () => house.settings.get(administrator);
    /** All that panels change. */
    const state = async () => ({
      settings: await team(),
      budgets: await house.budgets.list(administrator),
      approvers: await house.approvers.list(administrator),
    });
    const own = async () => (await harness.messages()).filter(({ visibleTo }) => visibleTo === harness.administrator);
    const shows = (words: string): Promise<ShownMessage> =>
      vi.waitFor(async () => {
        const found = (await own()).filter(({ text }) => text.includes(words));
        expect(found).toHaveLength(1);
        return found[0] as ShownMessage;
      }, WITHIN);
    const card = async (): Promise<string> => {
      await harness.command();
      return (await shows('Settings of this team')).id;
    };
    /** Opens a form of the test's own. */
    const opened = async (fields: Form['fields']): Promise<ShownForm> => {
      const message = await card();
      const form: Form = { id: 'panel:settings:amounts', title: 'Amounts', submit: 'Save', fields };
      harness.bot.press = async () => ({ kind: 'form', form });
      return harness.press(message, 'panel:settings:amounts');
    };
    /** Submits a form, and returns what the bot gets of it, without the names of people and channels. */
    const got = async (form: ShownForm, changes: Parameters<ShownForm['submit']>[0]) => {
      const heard: Readonly<Record<string, string>>[] = [];
      harness.bot.submit = async (_caller, _form, values): Promise<Reply> => {
        heard.push(values as Readonly<Record<string, string>>);
        return { kind: 'private', card: { lines: [['Taken.']], progress: null, buttons: [] } };
      };
      await form.submit(changes);
      await shows('Taken.');
      expect(heard).toHaveLength(1);
      return Object.fromEntries(
        Object.entries(heard[0] ?? {}).map(([key, value]) => [key, value.replace(/\|[^>\n]*>/gu, '>')]),
      );
    };
    const personValue = (id: string) => (name === 'the playground' ? id : `<@${id}>`);

    describe('a control', () => {
      const choices = {
        title: 'Models',
        placeholder: 'None',
        all: ['a', 'b', 'c'].map((value) => ({ value, label: value })),
      };

      it('sends back what it shows where nothing is touched', async () => {
        const { people, channel, group } = harness;
        const value = [`<@${people[0]}>`, ...(group === null ? [] : [group.value])].join('\n');
        const form = await opened([
          field('who~1', 'Approvers', { control: 'approver', most: 25, value }),
          field('person~1', 'Person', { control: 'person', value: `<@${people[1]}>` }),
          field('channel~1', 'Channel', { control: 'channel', value: `<#${channel}>` }),
          field('models~1', 'Models', { choices, most: 25, value: 'a\nc' }),
          field('on~1', 'Switch', { control: 'switch', value: 'on' }),
        ]);
        const isTyped = name === 'the playground';
        expect(await got(form, {})).toEqual({
          'who~1': isTyped ? people[0] : value.replace(/\|[^>\n]*>/gu, '>'),
          'person~1': personValue(people[1]),
          'channel~1': isTyped ? channel : `<#${channel}>`,
          'models~1': 'a\nc',
          'on~1': 'on',
        });
      });

      it('sends what is chosen', async () => {
        const { people, channel, group } = harness;
        const form = await opened([
          field('who~', 'Approvers', { control: 'approver', most: 25 }),
          field('person~', 'Person', { control: 'person' }),
          field('channel~', 'Channel', { control: 'channel' }),
          field('models~', 'Models', { choices, most: 25 }),
          field('on~', 'Switch', { control: 'switch', value: 'off' }),
        ]);
        const who = [...people, ...(group === null ? [] : [group.id])];
        const values = await got(form, { who, person: [people[0]], channel: [channel], models: ['b', 'c'], on: 'on' });
        expect(values).toEqual({
          'who~': [...people.map(personValue), ...(group === null ? [] : [group.value.replace(/\|.*>/u, '>')])].join(
            '\n',
          ),
          'person~': personValue(people[0]),
          'channel~': name === 'the playground' ? channel : `<#${channel}>`,
          'models~': 'b\nc',
          'on~': 'on',
        });
      });

      it('sends that it was emptied', async () => {
        const { people, channel } = harness;
        const form = await opened([
          field('who~1', 'Approvers', { control: 'approver', most: 25, value: `<@${people[0]}>` }),
          field('person~1', 'Person', { control: 'person', value: `<@${people[1]}>` }),
          field('channel~1', 'Channel', { control: 'channel', value: `<#${channel}>` }),
          field('models~1', 'Models', { choices, most: 25, value: 'a\nc' }),
          field('on~1', 'Switch', { control: 'switch', value: 'on' }),
        ]);
        const values = await got(form, { who: [], person: [], channel: [], models: [], on: 'off' });
        expect(values).toEqual({ 'who~1': '', 'person~1': '', 'channel~1': '', 'models~1': '', 'on~1': 'off' });
      });

      it('takes as text what has a thousand choices, of which none is lost', async () => {
        const all = Array.from({ length: 1000 }, (_, at) => ({ value: `model-${at}`, label: `Model ${at}` }));
        const form = await opened([
          field('models~1', 'Models', { choices: { ...choices, all }, most: 25, value: 'model-7\nmodel-999' }),
          field('model~1', 'Model', { choices: { ...choices, all }, value: 'model-999' }),
        ]);
        expect(await got(form, { model: 'model-998' })).toEqual({
          'models~1': name === 'the playground' ? 'model-7\nmodel-999' : 'model-7, model-999',
          'model~1': 'model-998',
        });
      });
    });

    it('open with the values of today, and change nothing where nothing is touched', async () => {
      await card();
      const by = { person: administrator.user, surface: 'command' } as const;
      const { platform, team: id } = administrator;
      const [ada, ben] = harness.people.map((person) => ({ id: person, name: 'Ada' }));
      const [, kind = '', group = ''] = /^<(@&|!subteam\^)([^|]+)/u.exec(harness.group?.value ?? '') ?? [];
      const of = { kind: kind === '@&' ? 'role' : 'group', id: group, name: '@producers' } as const;
      const some: readonly Approver[] = [
        ...[ada, ben].flatMap((one) => (one === undefined ? [] : [{ kind: 'person', ...one } as const])),
        ...(group === '' ? [] : [of]),
      ];
      for (const one of some) await house.approvers.add(administrator, by, one);
      for (const text of ['team 100 USD', 'team 80 soft', `<#${harness.channel}|clips> 20`])
        await house.bot.text(administrator, `budget ${text}`);
      await house.settings.change({ platform, team: id }, by, {
        ...SETTINGS,
        reportChannel: harness.channel,
        policy: { team: { ...RULES, create: some, review: some, decide: [] }, channels: {} },
      });
      const before = await state();
      for (const button of PANELS.map((one) => one.replace('CHANNEL', harness.channel))) {
        const buttons = [{ id: button, label: 'Open', style: 'plain' }] as const;
        const reply: Reply = { kind: 'private', card: { lines: [[`Opens ${button}.`]], progress: null, buttons } };
        harness.bot.command = async () => reply;
        harness.bot.text = async () => reply;
        await harness.command();
        const form = await harness.press((await shows(`Opens ${button}.`)).id, button);
        const taken = Promise.withResolvers<void>();
        harness.bot.submit = (caller, purpose, values) =>
          house.bot.submit(caller, purpose, values as never).finally(() => taken.resolve());
        expect(await form.submit({}), button).toBeNull();
        await taken.promise;
        expect(await state(), button).toEqual(before);
      }
    });

    it('open under the card of the settings, with their values, and save what was changed', async () => {
      const message = await card();
      const form = await harness.press(message, 'panel:settings:months');
      await form.submit({ time_zone: 'Europe/Berlin', report_channel: [harness.channel], alerts: 'off' });
      await shows('Saved.');
      expect(await team()).toMatchObject({ timeZone: 'Europe/Berlin', reportChannel: harness.channel, alerts: false });
      const { id } = (await own()).at(-1) as ShownMessage;
      const again = await harness.press(id, 'panel:settings:months');
      for (const shown of ['Europe/Berlin', harness.channel]) expect(JSON.stringify(again.sent)).toContain(shown);
      await again.submit({ time_zone: '', report_channel: [] });
      await vi.waitFor(async () => expect(await team()).toMatchObject({ timeZone: 'UTC', alerts: false }), WITHIN);
      expect(await team()).not.toHaveProperty('reportChannel');
    });

    it('say what is wrong, at its field where the form can stay open, and save nothing', async () => {
      const form = await harness.press(await card(), 'panel:settings:amounts');
      const errors = await form.submit({ confirm_above: 'much', approve_above: '5' });
      const sentence = 'confirm_above: “much” isn’t an amount.';
      if (errors === null) {
        const { buttons } = await shows(sentence);
        expect(buttons).toEqual([{ id: 'panel:settings:amounts', label: 'Open it again' }]);
      } else expect(errors).toEqual([expect.stringContaining(sentence)]);
      expect(await team()).toMatchObject({ revision: 0 });
    });

    it('save nothing for someone who lost the right meanwhile', async () => {
      const form = await harness.press(await card(), 'panel:settings:amounts');
      harness.bot.submit = (caller, id, values) =>
        house.bot.submit({ ...caller, mayAdminister: false }, id, values as never);
      const errors = await form.submit({ confirm_above: '2' });
      if (errors === null) await shows('Nothing was changed.');
      else expect(errors).toEqual([expect.stringContaining('Nothing was changed.')]);
      expect(await team()).toMatchObject({ revision: 0 });
    });

    it('save once what two forms, opened by two presses, were filled with', async () => {
      const message = await card();
      const forms = [
        await harness.press(message, 'panel:settings:amounts'),
        await harness.press(message, 'panel:settings:amounts'),
      ];
      for (const form of forms) await form.submit({ confirm_above: '2' });
      await vi.waitFor(
        async () => expect((await own()).some(({ text }) => text.includes('Nothing changed'))).toBe(true),
        WITHIN,
      );
      expect(await team()).toMatchObject({ revision: 1, confirmAbove: { amount: '2', currency: 'USD' } });
    });
  });
}
