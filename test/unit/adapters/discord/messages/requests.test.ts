import { expect, it } from 'vitest';
import { renderRequest } from '#adapters/discord/messages/render.ts';
import { componentsV2 } from '#test/fakes/discord/components.ts';
import { approvalNotice } from '#test/fakes/views.ts';

it('pings the approvers only: people by their ids, roles by theirs', () => {
  const role = { kind: 'role', id: '77', name: '@leads' } as const;
  const person = { kind: 'person', id: '5', name: 'Ben' } as const;
  const body = renderRequest(approvalNotice({ pings: [role, person], prompt: '@everyone <@&78>' }), '1');
  expect(body.allowed_mentions).toEqual({ parse: [], users: ['5'], roles: ['77'], replied_user: false });
  expect(JSON.stringify(body.components)).toContain('<@&77> <@5>: Cleo requests a clip for $4.00.');
  expect(JSON.stringify(body.components)).not.toContain('<@&78>');
});

it('shows the picture of a request with its prompt, and none without', () => {
  const picture = { id: 'relay-1', url: 'https://bot.example/media/relay-1.jpg' };
  const { components } = renderRequest(approvalNotice({ picture, prompt: 'a red fox' }), '1');
  componentsV2.parse(components);
  const description = 'Picture for “a red fox”';
  const accessory = { type: 11, media: { url: picture.url }, description };
  expect(components).toMatchObject([{ components: [{}, { type: 9, accessory }, {}, {}] }]);
  expect(JSON.stringify(renderRequest(approvalNotice({ picture, prompt: null }), '1'))).not.toContain('relay-1');
});

it('allows 100 pings of a kind, as many as Discord accepts', () => {
  const pings = Array.from({ length: 200 }, (_, at) => ({ kind: 'person' as const, id: `${at}`, name: 'Ben' }));
  const { allowed_mentions: allowed } = renderRequest(approvalNotice({ pings }), '1');
  expect(allowed.users).toHaveLength(100);
});
