import { z } from 'zod';
import { isLoopbackHost } from '../videos/addresses.ts';

function isSafeUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));
}

/** Variable that may not be empty. */
export const text = z.string().min(1);
/** Variable that takes the address of a service that gets a token. */
export const serviceUrl = z.string().refine(isSafeUrl, 'an https:// address (http:// for loopback hosts alone)');
/** Variable that takes `on` or `off`, the default. */
export const onOff = z.enum(['on', 'off'], 'on or off').default('off');

/** Returns an object with the value under the key, or an empty one where it is undefined. */
export function optional<Key extends string>(key: Key, value: string | undefined): { readonly [Name in Key]?: string } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [Name in Key]?: string });
}
