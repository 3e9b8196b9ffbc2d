import { expect, it } from 'vitest';
import { TokenCipher } from '#adapters/slack/installation/token-cipher.ts';

it('decrypts only with the same name and key', () => {
  const vault = new TokenCipher('a secret');
  const sealed = vault.seal('T1', 'xoxb-token');
  expect(sealed).not.toContain('xoxb');
  expect(vault.seal('T1', 'xoxb-token')).not.toBe(sealed);
  expect(vault.open('T1', sealed)).toBe('xoxb-token');
  expect(vault.open('T2', sealed)).toBeNull();
  expect(new TokenCipher('another').open('T1', sealed)).toBeNull();
  expect(vault.open('T1', `${sealed.slice(0, -6)}AAAAAA`)).toBeNull();
  expect(vault.open('T1', 'short')).toBeNull();
});
