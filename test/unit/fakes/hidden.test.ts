import { expect, it } from 'vitest';
import { leaks } from '#test/fakes/hidden.ts';

const SECRET = { name: 'a secret', text: 'hunter2/and "more"+stuff' };

it.each([
  ['as it is', `token ${SECRET.text} was wrong`],
  ['in an address', `https://a.example/?token=${encodeURIComponent(SECRET.text)}`],
  ['in JSON', JSON.stringify({ token: SECRET.text })],
  ['in hex', Buffer.from(SECRET.text).toString('hex')],
  ['in base64', Buffer.from(SECRET.text).toString('base64')],
  ['in base64 with something before it', Buffer.from(`u:${SECRET.text}@host`).toString('base64')],
  ['in base64 with a little before it', Buffer.from(`:${SECRET.text}`).toString('base64')],
  ['in base64url', Buffer.from(`bot:${SECRET.text}`).toString('base64url')],
])('finds what is hidden %s', (_how, printed) => {
  expect(leaks(`before ${printed} after`, [SECRET])[0]).toContain('a secret');
});

it('finds nothing where nothing is', () => {
  expect(leaks('a token was wrong: [hidden]', [SECRET])).toEqual([]);
});
