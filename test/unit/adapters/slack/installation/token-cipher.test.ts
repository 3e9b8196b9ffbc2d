import { expect, it } from 'vitest';
import { TokenCipher } from '#adapters/slack/installation/workspaces.ts';

it('decrypts only with the same name and key', () => {
  const cipher = new TokenCipher('a secret');
  const sealed = cipher.seal('T1', 'xoxb-token');
  expect(sealed).not.toContain('xoxb');
  expect(cipher.seal('T1', 'xoxb-token')).not.toBe(sealed);
  expect(cipher.open('T1', sealed)).toBe('xoxb-token');
  expect(cipher.open('T2', sealed)).toBeNull();
  expect(new TokenCipher('another').open('T1', sealed)).toBeNull();
  expect(cipher.open('T1', `${sealed.slice(0, -6)}AAAAAA`)).toBeNull();
  expect(cipher.open('T1', 'short')).toBeNull();
});
