import { isLoopbackHost } from '../videos/index.ts';
import type { Given, PlatformConfig } from './platform-config.ts';

/** Prefix that identifies a wrong kind of token, and the advice for it. */
export interface TokenMistake {
  readonly prefix: RegExp;
  readonly advice: string;
}

/** Returns a sentence for each token that was swapped, quoted, prefixed or pasted with blanks, without its value. */
export function tokenProblems(given: Given, tokens: PlatformConfig['tokens']): string[] {
  return Object.entries(tokens).flatMap(([name, mistakes]) => {
    const token = given[name];
    const problem = token === undefined ? undefined : mistakeIn(token, mistakes);
    return problem === undefined ? [] : [`${name}: what was given (not repeated here) ${problem}`];
  });
}

function mistakeIn(token: string, mistakes: readonly TokenMistake[]): string | undefined {
  if (/^["'“‘`]|["'”’`]$/u.test(token.trim())) return 'is in quotes; give it without them';
  const [scheme] = /^(?:Bot|Bearer)\s+/i.exec(token.trim()) ?? [];
  if (scheme !== undefined) return `begins with “${scheme.trim()} ”; give the token alone`;
  if (/\s/u.test(token)) return 'contains blanks; give the token without them';
  return mistakes.find(({ prefix }) => prefix.test(token))?.advice;
}

const MIN_CHARACTERS = 16;
const MIN_DISTINCT = 5;

/** Requirement of {@link isHardToGuess}, for messages. */
export const HARD_TO_GUESS = `at least ${MIN_CHARACTERS} characters, ${MIN_DISTINCT} of them different, such as \`openssl rand -hex 16\` prints`;

/** Returns whether an access token is long and varied enough not to be guessed easily. */
export function isHardToGuess(token: string): boolean {
  return token.length >= MIN_CHARACTERS && new Set(token).size >= MIN_DISTINCT;
}

/**
 * Returns why the playground needs an access token, if it is enabled without one and reachable from outside, where
 * anyone who finds it could spend money. Empty where nothing is wrong.
 */
export function exposureProblems(given: Given): string[] {
  const { HOST: host = '127.0.0.1', PUBLIC_URL: publicUrl = '', PLAYGROUND_TOKEN: token } = given;
  if (token !== undefined) return [];
  const isPublic = URL.canParse(publicUrl) && !isLoopbackHost(new URL(publicUrl).hostname);
  const exposed = [...(isLoopbackHost(host) ? [] : [`HOST=${host}`]), ...(isPublic ? ['PUBLIC_URL'] : [])];
  if (exposed.length === 0) return [];
  return [
    `PLAYGROUND_TOKEN: not set; ${exposed.join(' and ')} ${exposed.length === 1 ? 'leads' : 'lead'} beyond this machine and the playground spends money, ` +
      `so it takes an access token of ${HARD_TO_GUESS} (or PLAYGROUND=off)`,
  ];
}
