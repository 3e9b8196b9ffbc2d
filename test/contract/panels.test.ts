import { expect, vi } from 'vitest';
import { startOnDiscord, startOnPlayground, startOnSlack } from './harnesses.ts';
import { describePanels, type PanelHarness, type ShownForm } from './panels.contract.ts';

describePanels('Discord', startDiscord);
describePanels('Slack', startSlack);
describePanels('the playground', startPlayground);

/** Returns the full name of a field that is named by its beginning. */
function nameIn(names: readonly string[], begun: string): string {
  const found = names.find((name) => name.split('~')[0] === begun);
  if (found === undefined) throw new TypeError(`there is no ${begun} among ${names.join(', ')}`);
  return found;
}

async function startDiscord(): Promise<PanelHarness> {
  const { house, discord, shared } = await startOnDiscord();
  const { people, users, channels } = discord;
  const rights = { permissions: ['MANAGE_GUILD'] } as const;
  const group = discord.addRole('producers');
  return {
    ...shared,
    administrator: users.alice,
    people: [users.alice, users.bob],
    group: { id: group, value: `<@&${group}|@producers>` },
    channel: channels.clips,
    command: () => house.answerTo(people.slash('video-admin settings', {}, rights)),
    press: async (message, button): Promise<ShownForm> => {
      const opener = people.press(message, button, rights);
      await discord.answered(opener);
      const sent = opener.answer?.data as { readonly components: readonly { component: Record<string, unknown> }[] };
      const fields = sent.components.map(({ component }) => component);
      const names = fields.map((field) => String(field['custom_id']));
      return {
        sent,
        submit: async (changes) => {
          const entries = Object.entries(changes).map(([begun, entry]) => {
            const name = nameIn(names, begun);
            const isCheckbox = fields[names.indexOf(name)]?.['type'] === 23;
            return [name, isCheckbox ? entry === 'on' : entry] as const;
          });
          const submitted = people.submitModal(opener, Object.fromEntries(entries), rights);
          await discord.answered(submitted);
          return null;
        },
      };
    },
  };
}

async function startSlack(): Promise<PanelHarness> {
  const { slack, shared } = await startOnSlack();
  const { people, users, channels } = slack;
  slack.setAdmin(users.alice, 'is_admin');
  slack.setGroup('S01PRODUCERS', [users.bob]);
  return {
    ...shared,
    administrator: users.alice,
    people: [users.alice, users.bob],
    group: { id: '<!subteam^S01PRODUCERS|@s01producers>', value: '<!subteam^S01PRODUCERS|@s01producers>' },
    channel: channels.clips,
    command: async () => people.slash('/video settings'),
    press: async (message, button): Promise<ShownForm> => {
      const before = slack.forms.shown(users.alice)?.id;
      people.press(message, button);
      await slack.until(() => (slack.forms.shown(users.alice)?.id ?? before) !== before, 'a form');
      const view = slack.forms.shown(users.alice);
      if (view === null) throw new TypeError('there is no form');
      const names = view.blocks.map((block) => String(block.element?.action_id));
      return {
        sent: { title: view.title, submit: view.submit, private_metadata: view.privateMetadata, blocks: view.blocks },
        submit: async (changes) => {
          const entries: Record<string, string | readonly string[]> = {};
          for (const [begun, entry] of Object.entries(changes)) {
            const name = nameIn(names, begun);
            const groups = [entry].flat().filter((one) => one.startsWith('<!'));
            entries[name] = typeof entry === 'string' ? entry : entry.filter((one) => !groups.includes(one));
            if (groups.length > 0) entries[`${name}:groups`] = groups;
          }
          const envelope = slack.forms.submit(view, entries);
          await vi.waitFor(() => expect(envelope.answer).not.toBeNull(), 300_000);
          return view.isOpen ? Object.values(view.errors).map(String) : null;
        },
      };
    },
  };
}

async function startPlayground(): Promise<PanelHarness> {
  const user = 'operator';
  const { house, shared } = await startOnPlayground(user);
  let sent = 0;
  const id = (): string => `i${++sent}`;
  return {
    ...shared,
    administrator: user,
    people: ['ada', 'sam'],
    group: null,
    channel: 'clips',
    command: () => house.post('interactions', { id: id(), user, channel: 'general', text: '/video settings' }),
    press: async (message, button): Promise<ShownForm> => {
      const { body } = await house.post('presses', { id: id(), user, message, button });
      const fields = body.form.fields as readonly { readonly name: string; readonly value: string }[];
      // The page shows mentions by their names.
      const shown = fields.map(({ name, value }) => [name, value.replace(/<[@#]([^|>]+)[^>]*>/gu, '$1')] as const);
      return {
        sent: body.form,
        submit: async (changes) => {
          const names = fields.map(({ name }) => name);
          const entries = Object.entries(changes).map(
            ([begun, entry]) => [nameIn(names, begun), [entry].flat().join('\n')] as const,
          );
          const values = Object.fromEntries([...shown, ...entries]);
          const answer = await house.post('forms', { id: id(), user, message, form: body.form.id, values });
          if (answer.status === 202) return null;
          const problems = answer.body.problems as readonly { readonly sentence: string }[];
          return problems.length === 0 ? [answer.body.error] : problems.map(({ sentence }) => sentence);
        },
      };
    },
  };
}
