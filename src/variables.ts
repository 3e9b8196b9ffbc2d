import { z } from 'zod';
import { isLoopbackHost } from './videos/index.ts';

function isSafeUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));
}

/** Returns the schema of a variable of which `read` makes the value. @param read returns null for what is not allowed */
export function readBy<Value>(read: (text: string) => Value | null, allowed: string) {
  return z.string().transform((given, context): Value => {
    const value = read(given);
    if (value !== null) return value;
    context.addIssue({ code: 'custom', message: allowed });
    return z.NEVER;
  });
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

const UNITS: Readonly<Record<string, number>> = { KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3, TB: 1024 ** 4 };
const SIZE = /^(\d{1,6}(?:\.\d{1,3})?)\s*([KMGT]B)$/i;
const SIZE_ALLOWED = '0, or a size of at least 1 MB with its unit (MB, GB or TB), such as 200GB';

/** Variable that takes a size such as `200GB` or `1.5 TB`, or 0, in bytes; a unit is 1,024 of the next smaller one. */
export const dataSize = z
  .string()
  .transform((size) => {
    if (size === '0') return 0;
    const [, number = '', unit = ''] = SIZE.exec(size) ?? [];
    return Math.floor(Number(number) * (UNITS[unit.toUpperCase()] ?? Number.NaN));
  })
  .refine((bytes) => bytes === 0 || bytes >= 1024 ** 2, SIZE_ALLOWED);

/** Returns an object with the value under the key, or an empty one where it is undefined. */
export function optional<Key extends string>(key: Key, value: string | undefined): { readonly [Name in Key]?: string } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [Name in Key]?: string });
}
