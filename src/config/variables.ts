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

/** Variable that takes the host name or address to listen on; default: loopback. */
export const host = z
  .string()
  .regex(/^[\w.:[\]-]+$/, 'a host name or address')
  .default('127.0.0.1');

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
/** Variable that takes a level of pino; default: `info`. */
export const logLevel = z.enum(LOG_LEVELS, LOG_LEVELS.join(', ')).default('info');

/** Returns the schema of a variable that takes a whole number from `least` to `most`. */
export function wholeNumber(least: number, most: number) {
  const allowed = `a whole number from ${least} to ${most}`;
  return z
    .string()
    .regex(/^\d+$/, allowed)
    .transform(Number)
    .refine((value) => value >= least && value <= most, allowed);
}

/** Returns an object with the value under the key, or an empty one where it is undefined. */
export function optional<Key extends string>(key: Key, value: string | undefined): { readonly [Name in Key]?: string } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [Name in Key]?: string });
}
