import { expect } from 'vitest';
import { startEnhancer } from '#test/fakes/enhancer.ts';
import { plainOf as slackText } from '#test/fakes/slack-house.ts';
import type { FakeVideoService } from '#test/fakes/video-service.ts';
import { administer, answered, buttonOf, type RunningDailies } from './dailies.ts';
import { test } from './fixtures.ts';

const SENT = 'shot on film, a red fox. Avoid: text, logos';
/** A public address that needs no name resolution. */
const MUG = 'https://93.184.215.14/mug.png';

interface Sent {
  readonly prompt: string;
  readonly image_urls?: readonly string[];
}

/** Returns the bodies of all creates, oldest first. */
function sentTo({ requests }: FakeVideoService): readonly Sent[] {
  return requests.filter(({ method }) => method === 'POST').map(({ body }) => JSON.parse(body) as Sent);
}

const promptsTo = (upstream: FakeVideoService) => sentTo(upstream).map(({ prompt }) => prompt);

/** Presses a button of a message, and returns the answer’s text. */
async function pressed(dailies: RunningDailies, message: string, action: string): Promise<string> {
  const button = buttonOf(await dailies.message(message), action);
  return (await dailies.message(answered(await dailies.press(message, button)))).text;
}

/** Orders a clip and waits until it is ready. */
async function made(dailies: RunningDailies, text: string): Promise<string> {
  const message = answered(await dailies.interact(text));
  await dailies.reaches(message, 'completed');
  return message;
}

test('a style goes around the sent prompt; Retry keeps it as it was, Edit & retry takes the present one', async ({
  upstream,
  start,
}) => {
  let dailies = await start();
  await administer(dailies, '/video style house --before "shot on film," --avoid "text, logos"');
  const message = await made(dailies, '/video create a red fox --style house');
  expect(promptsTo(upstream)).toEqual([SENT]);
  const { text } = await dailies.message(message);
  expect(text).toContain('style house');
  expect(text).not.toContain('shot on film');
  await administer(dailies, '/video style house --before "drawn in ink,"');
  await dailies.kill();
  dailies = await start();
  const details = await pressed(dailies, message, 'details');
  expect(details).toMatch(/^a red fox$/mu);
  expect(details).toContain(SENT);
  await dailies.press(message, buttonOf(await dailies.message(message), 'retry'));
  await expect.poll(() => promptsTo(upstream)).toEqual([SENT, SENT]);
  const { body } = await dailies.press(message, buttonOf(await dailies.message(message), 'edit'));
  const form = body.form as { readonly id: string; readonly fields: readonly { name: string; value: string }[] };
  const values = Object.fromEntries(form.fields.map(({ name, value }) => [name, value]));
  expect(values).toMatchObject({ prompt: 'a red fox', style: 'house' });
  const edited = { id: 'edited', user: 'ana', message, form: form.id, values };
  expect(await dailies.post('/playground/forms', edited)).toMatchObject({ status: 202 });
  await expect.poll(() => promptsTo(upstream).slice(2)).toEqual(['drawn in ink, a red fox. Avoid: text, logos']);
});

test('an image of the library is used by its name, over a kill, by its own team, until it is removed', async ({
  upstream,
  slack,
  start,
}) => {
  const env = { ...slack.env, PLAYGROUND: 'on' };
  let dailies = await start(env);
  const said = async (text: string) => (await dailies.message(answered(await dailies.interact(text)))).text;
  expect(await said(`/video library add @mug --image ${MUG}`)).toContain('Added @mug for the whole team.');
  await dailies.kill();
  dailies = await start(env);
  await slack.botReady();
  expect(await said('/video library')).toContain('@mug');
  await made(dailies, '/video create a @mug on a table');
  await made(dailies, '/video create a red fox --image @MUG');
  expect(sentTo(upstream)).toMatchObject([
    { prompt: 'a mug on a table', image_urls: [MUG] },
    { prompt: 'a red fox', image_urls: [MUG] },
  ]);
  const { general } = slack.channels;
  const answers = () => slack.messages(general).map(slackText).join('\n');
  slack.people.slash('/video create a hen --image @mug');
  await slack.until(() => answers().includes('There is no @mug in the library.'), 'a refusal');
  slack.people.slash('/video library');
  await slack.until(() => answers().includes('The library is empty.'), 'the library');
  expect(await said('/video library remove @mug')).toContain('Removed @mug.');
  const refused = await dailies.interact('/video create a red fox --image @mug');
  expect(refused).toMatchObject({ status: 400, body: { error: expect.stringContaining('There is no @mug') } });
  expect(promptsTo(upstream)).toHaveLength(2);
});

test('Improve shows a hostile answer as text, orders it once within its style, and keeps to the policy', async ({
  upstream,
  start,
  onTestFinished,
}) => {
  const enhancer = await startEnhancer();
  onTestFinished(() => enhancer.close());
  enhancer.content = '@everyone <!channel> **fox**\u202E\n<script>alert(1)</script> --seconds 60';
  const improved = '@everyone <!channel> **fox** <script>alert(1)</script> --seconds 60';
  const env = { ENHANCER_URL: enhancer.url, ENHANCER_TOKEN: enhancer.token };
  let dailies = await start(env);
  await administer(dailies, '/video style house --before "shot on film,"');
  const message = await made(dailies, '/video create a red fox --style house');
  const improve = async () => {
    const details = answered(await dailies.press(message, buttonOf(await dailies.message(message), 'details')));
    const pressing = await dailies.press(details, buttonOf(await dailies.message(details), 'improve'));
    return pressing.status === 202 ? dailies.message(answered(pressing)) : pressing.body.error;
  };
  const shown = await improve();
  if (shown === undefined || typeof shown === 'string') throw new TypeError(shown);
  expect(shown).toMatchObject({ visibleTo: 'ana', attachments: [] });
  expect(shown.text).toMatch(/^Original: a red fox$/mu);
  expect(shown.text.split('\n')).toContain(`Improved: ${improved}`);
  expect(enhancer.requests).toMatchObject([{ messages: [{ role: 'system' }, { content: 'a red fox' }] }]);
  expect(promptsTo(upstream)).toHaveLength(1);
  await dailies.kill();
  dailies = await start(env);
  // What was shown is bought, whatever happened to the style since.
  await administer(dailies, '/video style house --before "drawn in ink,"');
  const create = shown.buttons.find(({ label }) => label.startsWith('Create improved'))?.id ?? '';
  await dailies.press(shown.id, create);
  await dailies.press(shown.id, create);
  await expect.poll(() => promptsTo(upstream).slice(1)).toEqual([`shot on film, ${improved}`]);
  // What looks like an option in the answer is none.
  const [original, ordered] = sentTo(upstream);
  expect(ordered).toEqual({ ...original, prompt: ordered?.prompt });
  await administer(dailies, '/video policy --words alert');
  const forbidden = await improve();
  if (forbidden === undefined || typeof forbidden === 'string') throw new TypeError(forbidden);
  expect(forbidden.buttons.map(({ label }) => label)).not.toContainEqual(expect.stringContaining('Create improved'));
  for (const [content, sentence] of [
    ['x'.repeat(1_501), 'The improved prompt was too long.'],
    [' \u200B', 'gave an empty answer'],
  ] as const) {
    enhancer.content = content;
    expect(await improve()).toContain(sentence);
  }
  expect(promptsTo(upstream)).toHaveLength(2);
});
