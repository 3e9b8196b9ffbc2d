import { type Clock, within } from '../clock.ts';
import type { Given } from '../config/index.ts';
import { asDailiesError } from '../errors.ts';

/** What a check found about one subject, and where it is not fine, what to do. */
export interface Diagnosis {
  readonly level: 'ok' | 'warning' | 'wrong';
  /** Such as `Discord token` or the name of a variable. */
  readonly subject: string;
  readonly found: string;
  /** One line; `null` where nothing has to be done. */
  readonly fix: string | null;
}

/** A diagnosis as a check returns it: without a subject, it is about that of the check. */
export interface Finding extends Omit<Diagnosis, 'subject'> {
  readonly subject: string | undefined;
}

/** What a check returns; `null` where there is nothing to say. */
export type Findings = Finding | null | readonly (Finding | null)[];

/** A check that changes nothing; checks run in parallel. */
export interface Check {
  /** Subject of its findings that name no other one, and of the diagnosis if it fails or takes too long. */
  readonly subject: string;
  readonly run: () => Findings | Promise<Findings>;
}

/** Longest time for one check, in milliseconds. */
export const CHECK_TIMEOUT_MS = 10_000;

const SYMBOLS = { ok: '✓', warning: '!', wrong: '✗' } as const;
/** Names of variables whose values are never printed. */
const SECRETS = /TOKEN|SECRET/;
/** Shortest text that is hidden wherever it occurs; a shorter one may be a common word. */
const MIN_SECRET_LENGTH = 6;

/** Creates the finding of something in order. */
export function ok(found: string, subject?: string): Finding {
  return { level: 'ok', subject, found, fix: null };
}

/** Creates the finding of something that works, but not as well as it could, or could not be checked. */
export function warning(found: string, fix: string, subject?: string): Finding {
  return { level: 'warning', subject, found, fix };
}

/** Creates the finding of something that does not work. */
export function wrong(found: string, fix: string, subject?: string): Finding {
  return { level: 'wrong', subject, found, fix };
}

/** Runs the checks in parallel; returns the diagnoses in the order of the checks. Never rejects. */
export async function runChecks(
  checks: readonly Check[],
  clock: Clock,
  timeoutMs = CHECK_TIMEOUT_MS,
): Promise<readonly Diagnosis[]> {
  const all = checks.map(async ({ subject, run }) => {
    const late = wrong(`no result within ${timeoutMs / 1_000} s`, 'Check the network, then run this again.');
    const found = Promise.try(run).catch((thrown: unknown) =>
      wrong(asDailiesError(thrown, 'checking').message, 'Solve this, then run this again.'),
    );
    const findings = [await within<Findings>(clock, timeoutMs, found, late)].flat();
    return findings.flatMap((one) => (one === null ? [] : [{ ...one, subject: one.subject ?? subject }]));
  });
  return (await Promise.all(all)).flat();
}

/** Hides the secrets of the environment in texts from outside, such as the message of an error. */
export function withoutSecrets(diagnoses: readonly Diagnosis[], given: Given): readonly Diagnosis[] {
  const hidden = secretsIn(given).filter(({ length }) => length >= MIN_SECRET_LENGTH);
  const mask = (text: string): string => hidden.reduce((shown, secret) => shown.replaceAll(secret, '[hidden]'), text);
  return diagnoses.map(({ found, fix, ...rest }) => ({
    ...rest,
    found: mask(found),
    fix: fix === null ? null : mask(fix),
  }));
}

/** Returns the values that must never be printed: tokens, keys and the password of the store. */
function secretsIn(given: Given): readonly string[] {
  const tokens = Object.entries(given).flatMap(([name, value]) =>
    SECRETS.test(name) && value !== undefined ? [value.trim()] : [],
  );
  const { STORE_URL: store = '' } = given;
  const password = URL.canParse(store) ? new URL(store).password : '';
  return [...tokens, password, ...decoded(password)];
}

function decoded(password: string): readonly string[] {
  try {
    return [decodeURIComponent(password)];
  } catch {
    return [];
  }
}

/** Formats the diagnoses for a person: a line for each, a second one with what to do, and the totals. */
export function report(diagnoses: readonly Diagnosis[]): string {
  const lines = diagnoses.map(({ level, subject, found, fix }) => {
    const first = `${SYMBOLS[level]} ${subject}: ${oneLine(found)}\n`;
    return fix === null ? first : `${first}  → ${oneLine(fix)}\n`;
  });
  const count = (level: Diagnosis['level']) => diagnoses.filter((one) => one.level === level).length;
  return `${lines.join('')}\n${count('ok')} fine, ${count('warning')} to look at, ${count('wrong')} wrong.\n`;
}

function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim();
}
