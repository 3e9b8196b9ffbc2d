import type { ShownPrices } from '#commands/bot-port.ts';
import { priceFingerprint } from '#src/videos/catalog.ts';
import { pressOn as pressOnDiscord } from '#test/fakes/discord-house.ts';
import { privately } from '#test/fakes/scripted-bot.ts';
import { pressOn as pressOnSlack } from '#test/fakes/slack-house.ts';
import { taskView } from '#test/fakes/views.ts';
import { type ConfirmationHarness, describeConfirmation, FORM_CATALOG, originOf } from './confirmation.contract.ts';
import { startOnDiscord, startOnPlayground, startOnSlack } from './harnesses.ts';
import { describeStudio } from './studio.contract.ts';

/** @see discord docs: interactions/receiving-and-responding, "Interaction Callback Type" */
const MODAL = 9;

const FORM_PROMPT = { prompt: 'a red fox' };
const PRICES: ShownPrices = { prices: priceFingerprint(FORM_CATALOG) };

describeConfirmation('Discord', startDiscord);
describeStudio('Discord', startDiscord);

describeConfirmation('Slack', startSlack);
describeStudio('Slack', startSlack);

describeConfirmation('the playground', startPlayground);
describeStudio('the playground', startPlayground);

async function startDiscord(): Promise<ConfirmationHarness> {
  const { house, discord, shared } = await startOnDiscord();
  const { bot } = shared;
  const { people, users } = discord;
  const origin = async () => {
    const reply = bot.reply;
    bot.reply = privately('Hello.');
    const { caller } = await house.heard(people.slash('video help'));
    bot.reply = reply;
    return originOf(caller);
  };
  return {
    ...shared,
    requester: users.alice,
    order: () => people.slash('video create', { prompt: 'a red fox' }),
    shown: PRICES,
    openForm: async () => {
      const form = bot.reply;
      const buttons = [{ id: 'fix:1', label: 'Fix it', style: 'plain' }] as const;
      bot.reply = { kind: 'private', card: { lines: [['No.']], progress: null, buttons } };
      const { id } = await house.answerTo(people.slash('video models'));
      bot.reply = form;
      const opened = people.press(id, 'fix:1');
      await discord.answered(opened);
      return (values = FORM_PROMPT) => people.submitModal(opened, values);
    },
    openTask: async (task) => (await house.platform.open(task, await origin(), taskView({ task }))).message,
    react: (message) => people.react(message, '🔁'),
    press: (message, button) => pressOnDiscord(discord, message, button),
    formOf: async (message, press) => {
      const { type, data } = await discord.answered(pressOnDiscord(discord, message, press));
      return type === MODAL ? String(data['title']) : `an answer of type ${type}`;
    },
    restart: () => house.restart(),
  };
}

async function startSlack(): Promise<ConfirmationHarness> {
  const { house, slack, shared } = await startOnSlack();
  const { bot } = shared;
  const { people, users } = slack;
  const origin = async () => {
    const reply = bot.reply;
    bot.reply = privately('Hello.');
    people.slash('/video help');
    const { caller } = await house.heard();
    bot.reply = reply;
    return originOf(caller);
  };
  return {
    ...shared,
    requester: users.alice,
    order: () => people.slash('/video a red fox'),
    shown: { ...PRICES, price: { amount: '0.2', currency: 'USD' } },
    openForm: async () => {
      people.slash('/video');
      await slack.until(() => slack.forms.shown(users.alice) !== null, 'a form');
      const view = slack.forms.shown(users.alice);
      if (view === null) throw new TypeError('there is no form');
      return (values = FORM_PROMPT) => slack.forms.submit(view, values);
    },
    openTask: async (task) => (await house.platform.open(task, await origin(), taskView({ task }))).message,
    react: (message) => people.react(message, 'repeat'),
    press: (message, button) => pressOnSlack(slack, message, button),
    formOf: async (message, press) => {
      pressOnSlack(slack, message, press);
      await slack.until(() => slack.forms.shown(users.alice) !== null, 'a form');
      return slack.forms.shown(users.alice)?.title ?? 'no form';
    },
    restart: () => house.restart(),
  };
}

async function startPlayground(): Promise<ConfirmationHarness> {
  const user = { id: 'ada', name: 'ada' };
  const { house, shared } = await startOnPlayground(user.id);
  let orders = 0;
  const where = { platform: 'playground', team: 'playground', channel: 'general', address: {} };
  return {
    ...shared,
    requester: user.id,
    order: () =>
      house.post('interactions', {
        id: `order${++orders}`,
        user: user.id,
        channel: 'general',
        text: '/video a red fox',
      }),
    shown: { price: { amount: '0.20', currency: 'USD' } },
    openForm: async () => {
      const { reply } = house.bot;
      if (reply === null || reply instanceof Error || reply.kind !== 'form') throw new TypeError('there is no form');
      const form = reply.form.id;
      return (values = FORM_PROMPT) =>
        house.post('forms', { id: 'f1', user: user.id, channel: 'general', form, values, price: '0.20USD' });
    },
    openTask: async (task) =>
      (await house.platform.open(task, originOf({ ...where, user, interaction: 'i0' }), taskView({ task }))).message,
    react: (message) => house.post('reactions', { id: 'i2', user: user.id, message, emoji: '🔁' }),
    press: (message, button) => house.post('presses', { id: `i${++orders}`, user: user.id, message, button }),
    formOf: async (message, button) => {
      const { body } = await house.post('presses', { id: `i${++orders}`, user: user.id, message, button });
      return (body as { readonly form: { readonly title: string } }).form.title;
    },
    restart: () => house.restart(),
  };
}
