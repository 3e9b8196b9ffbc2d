import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { type FakeSlack, startSlack, type View } from '#test/fakes/slack/index.ts';
import { RawApp, type RawSocket } from './raw-app.ts';

const plain = (text: string) => ({ type: 'plain_text', text });
const option = (value: string) => ({ text: plain(value), value });
const prompt = {
  type: 'input',
  block_id: 'prompt',
  label: plain('Prompt'),
  element: { type: 'plain_text_input', action_id: 'prompt', max_length: 20 },
};
const model = {
  type: 'input',
  block_id: 'model',
  dispatch_action: true,
  label: plain('Model'),
  element: {
    type: 'static_select',
    action_id: 'model',
    options: [option('swift-1'), option('epic-pro')],
    initial_option: option('swift-1'),
  },
};
const files = {
  type: 'input',
  block_id: 'files',
  optional: true,
  label: plain('Files'),
  element: { type: 'file_input', action_id: 'files', filetypes: ['png'], max_files: 1 },
};
const MODAL = {
  type: 'modal',
  title: plain('New clip'),
  submit: plain('Create'),
  callback_id: 'create',
  private_metadata: 'C1',
  notify_on_close: true,
  blocks: [prompt, model, files],
};

let clock: ManualClock;
let slack: FakeSlack;
let app: RawApp;
let socket: RawSocket;

beforeEach(async () => {
  clock = new ManualClock();
  slack = await startSlack({ clock, libraryClock: clock });
  app = new RawApp(slack);
  socket = await app.connect();
});
afterEach(() => slack.close());

const open = (view: object = MODAL, triggerId = slack.people.slash('/video').triggerId) =>
  app.call('views.open', { trigger_id: triggerId, view });
const shown = (): View => slack.forms.shown(slack.users.alice) ?? expect.fail('no modal');
const violation = (): string => {
  expect(slack.violations).toHaveLength(1);
  return slack.violations[0] ?? '';
};

describe('a modal', () => {
  it('is opened, filled in and submitted', async () => {
    await open();
    const file = slack.people.upload({ name: 'fox.png', content: Buffer.from('png') });
    slack.forms.submit(shown(), { prompt: 'a fox', model: 'epic-pro', files: [file.id] });
    const packet = await socket.received(3);
    expect(packet).toMatchObject({
      accepts_response_payload: true,
      payload: {
        type: 'view_submission',
        view: {
          callback_id: 'create',
          private_metadata: 'C1',
          state: {
            values: {
              prompt: { prompt: { type: 'plain_text_input', value: 'a fox' } },
              model: { model: { selected_option: { value: 'epic-pro' } } },
              files: { files: { files: [{ id: file.id, mimetype: 'image/png' }] } },
            },
          },
        },
      },
    });
    await socket.acknowledge(packet);
    expect(slack.forms.shown(slack.users.alice)).toBeNull();
    expect(slack.violations).toEqual([]);
  });

  it('enforces its limits on users', async () => {
    await open();
    expect(() => slack.forms.submit(shown(), {})).toThrow('prompt is required');
    expect(() => slack.forms.submit(shown(), { prompt: 'x'.repeat(21) })).toThrow('does not take');
    expect(() => slack.forms.submit(shown(), { model: 'slow-1' })).toThrow('slow-1');
    const film = slack.people.upload({ name: 'fox.mp4', content: Buffer.from('mp4') });
    expect(() => slack.forms.submit(shown(), { files: [film.id] })).toThrow('takes png');
  });

  it('is updated on a selection and keeps entered values where the ids stay', async () => {
    await open();
    expect(slack.forms.change(shown(), 'prompt', 'a fox')).toBeNull();
    slack.forms.change(shown(), 'model', 'epic-pro');
    expect(await socket.received(3)).toMatchObject({
      payload: { type: 'block_actions', actions: [{ action_id: 'model', selected_option: { value: 'epic-pro' } }] },
    });
    const { id, hash } = shown();
    const seconds = { ...model, block_id: 'seconds', dispatch_action: false };
    await app.call('views.update', { view_id: id, hash, view: { ...MODAL, blocks: [prompt, seconds] } });
    expect(shown().values.get('prompt')?.get('prompt')).toMatchObject({ value: 'a fox' });
    expect(shown().values.get('seconds')?.get('model')).toMatchObject({ selected_option: { value: 'swift-1' } });
    const late = await app.call('views.update', { view_id: id, hash, view: MODAL });
    expect(late).toMatchObject({ error: 'hash_conflict' });
  });

  it('accepts errors, an updated view, a pushed one and a clear as response', async () => {
    await open();
    const answer = async (payload: object): Promise<void> => {
      slack.forms.submit(shown(), { prompt: 'a fox' });
      await socket.acknowledge(await socket.received(socket.packets.length + 1), payload);
    };
    await socket.acknowledge(await socket.received(2));
    await answer({ response_action: 'errors', errors: { prompt: 'too short' } });
    expect(shown().errors).toEqual({ prompt: 'too short' });
    await answer({ response_action: 'update', view: { ...MODAL, title: plain('Again') } });
    expect(shown().title).toBe('Again');
    await answer({ response_action: 'push', view: { ...MODAL, title: plain('On top') } });
    expect(shown().title).toBe('On top');
    await answer({ response_action: 'clear' });
    expect(slack.forms.shown(slack.users.alice)).toBeNull();
    expect(slack.violations).toEqual([]);
  });

  it('reports errors for unknown blocks as a violation', async () => {
    await open();
    await socket.acknowledge(await socket.received(2));
    slack.forms.submit(shown(), { prompt: 'a fox' });
    await socket.acknowledge(await socket.received(3), { response_action: 'errors', errors: { modell: 'which?' } });
    expect(violation()).toContain('no input blocks: modell');
  });

  it('sends view_closed if the app subscribed', async () => {
    await open();
    const view = shown();
    slack.forms.close(view);
    expect(await socket.received(3)).toMatchObject({ payload: { type: 'view_closed', is_cleared: false } });
    expect(await app.call('views.update', { view_id: view.id, view: MODAL })).toMatchObject({ error: 'not_found' });
  });

  it('supports at most two more views on top', async () => {
    await open();
    const push = () => {
      const triggerId = slack.forms.change(shown(), 'model', 'epic-pro')?.triggerId;
      return app.call('views.push', { trigger_id: triggerId, view: MODAL });
    };
    expect(await push()).toMatchObject({ ok: true });
    expect(await push()).toMatchObject({ ok: true });
    expect(await push()).toMatchObject({ error: 'push_limit_reached' });
  });

  it('is required to push another view', async () => {
    const { triggerId } = slack.people.slash('/video');
    expect(await app.call('views.push', { trigger_id: triggerId, view: MODAL })).toMatchObject({ error: 'not_found' });
    expect(violation()).toContain('without an open modal');
  });
});

describe('a trigger', () => {
  it('expires after three seconds', async () => {
    const { triggerId } = slack.people.slash('/video');
    await socket.acknowledge(await socket.received(2));
    clock.advance(3001);
    expect(await open(MODAL, triggerId)).toMatchObject({ error: 'expired_trigger_id' });
    expect(violation()).toContain('after 3001 ms');
  });

  it('can be exchanged once, and only if it was issued', async () => {
    const { triggerId } = slack.people.slash('/video');
    await open(MODAL, triggerId);
    expect(await open(MODAL, triggerId)).toMatchObject({ error: 'exchanged_trigger_id' });
    expect(await open(MODAL, '1.2.abc')).toMatchObject({ error: 'invalid_trigger_id' });
    expect(slack.violations).toHaveLength(2);
  });

  it('can be expired by a test', async () => {
    const { triggerId } = slack.people.slash('/video');
    slack.expireTriggers();
    expect(await open(MODAL, triggerId)).toMatchObject({ error: 'expired_trigger_id' });
    expect(slack.violations).toEqual([]);
  });
});

describe('a view has', () => {
  it.each([
    ['a title of 24', { title: plain('x'.repeat(25)) }],
    ['a button of 24', { submit: plain('x'.repeat(25)) }],
    ['a button where it has inputs', { submit: undefined }],
    ['metadata of 3000', { private_metadata: 'x'.repeat(3001) }],
    ['a callback_id of 255', { callback_id: 'x'.repeat(256) }],
    ['100 blocks', { blocks: Array.from({ length: 101 }, () => ({ type: 'divider' })) }],
    ['no markdown', { blocks: [{ type: 'markdown', text: 'a fox' }] }],
    [
      'only initial options that it offers',
      { blocks: [{ ...model, element: { ...model.element, initial_option: option('slow') } }] },
    ],
  ])('%s', async (_name, more) => {
    expect(await open({ ...MODAL, ...more })).toMatchObject({ error: 'invalid_arguments' });
    expect(violation()).toContain('[json-pointer:/view');
  });

  it('250 kB', async () => {
    const blocks = Array.from({ length: 100 }, () => ({ type: 'section', text: plain('x'.repeat(2900)) }));
    expect(await open({ ...MODAL, blocks })).toMatchObject({ error: 'view_too_large' });
  });

  it('a unique external_id', async () => {
    await open({ ...MODAL, external_id: 'one' });
    expect(await open({ ...MODAL, external_id: 'one' })).toMatchObject({ error: 'duplicate_external_id' });
  });
});

describe('the Home tab', () => {
  const press = { type: 'actions', elements: [{ type: 'button', text: plain('New'), action_id: 'new' }] };
  const publish = (blocks: object[], hash?: string) =>
    app.call('views.publish', {
      user_id: slack.users.alice,
      view: { type: 'home', blocks },
      ...(hash ? { hash } : {}),
    });

  it('is published, updated and pressed', async () => {
    await publish([{ type: 'divider' }]);
    const { id, hash } = slack.forms.home(slack.users.alice) ?? expect.fail();
    expect(await publish([press])).toMatchObject({ ok: true, view: { id } });
    expect(await publish([press], hash)).toMatchObject({ error: 'hash_conflict' });
    slack.forms.press(slack.forms.home(slack.users.alice) ?? expect.fail(), 'new');
    expect(await socket.received(2)).toMatchObject({
      payload: { view: { type: 'home' }, actions: [{ action_id: 'new' }] },
    });
    expect(slack.violations).toEqual([]);
  });

  it('supports no file input', async () => {
    expect(await publish([files])).toMatchObject({ error: 'invalid_arguments' });
  });
});
