type Given = Readonly<Record<string, string | undefined>>;

/** A beginning by which the wrong kind of token is known, and what to do about it. */
interface Mistake {
  readonly begins: RegExp;
  readonly says: string;
}

/** @see https://docs.slack.dev/authentication/tokens for the prefixes */
const APP_TOKEN: Mistake = {
  begins: /^xapp-/,
  says: 'begins with xapp-: that is the app-level token, which belongs in SLACK_APP_TOKEN; swap the two',
};
const BOT_TOKEN: Mistake = {
  begins: /^xoxb-/,
  says: 'begins with xoxb-: that is the bot token, which belongs in SLACK_BOT_TOKEN; swap the two',
};
const USER_TOKEN: Mistake = {
  begins: /^xox[ep](?!\.xoxb)/,
  says: 'is not a bot token; take the Bot User OAuth Token (xoxb-…) from the app’s page OAuth & Permissions',
};

/** Tokens that people paste, and what is pasted into them by mistake. */
const TOKENS: Readonly<Record<string, readonly Mistake[]>> = {
  DISCORD_TOKEN: [],
  SLACK_BOT_TOKEN: [APP_TOKEN, USER_TOKEN],
  SLACK_APP_TOKEN: [BOT_TOKEN],
  SLACK_SIGNING_SECRET: [APP_TOKEN, BOT_TOKEN],
  SLACK_CLIENT_SECRET: [APP_TOKEN, BOT_TOKEN],
};

/** Returns a sentence for each token that was swapped, quoted, prefixed or pasted with blanks. Repeats none of them. */
export function tokenProblems(given: Given): string[] {
  return Object.entries(TOKENS).flatMap(([name, mistakes]) => {
    const token = given[name];
    const problem = token === undefined ? undefined : mistakeIn(token, mistakes);
    return problem === undefined ? [] : [`${name}: what was given (not repeated here) ${problem}`];
  });
}

function mistakeIn(token: string, mistakes: readonly Mistake[]): string | undefined {
  if (/^["'“‘`]|["'”’`]$/u.test(token.trim())) return 'is in quotes; give it without them';
  const [prefix] = /^(?:Bot|Bearer)\s+/i.exec(token.trim()) ?? [];
  if (prefix !== undefined) return `begins with “${prefix.trim()} ”; give the token alone`;
  if (/\s/u.test(token)) return 'contains blanks; give the token without them';
  return mistakes.find(({ begins }) => begins.test(token))?.says;
}

const FEWEST_CHARACTERS = 16;
const FEWEST_DIFFERENT = 5;

/** What {@link isHardToGuess} asks for, in words. */
export const HARD_TO_GUESS = `at least ${FEWEST_CHARACTERS} characters, ${FEWEST_DIFFERENT} of them different, such as \`openssl rand -hex 16\` prints`;

/** Whether an access token is long and varied enough not to be guessed at once. */
export function isHardToGuess(token: string): boolean {
  return token.length >= FEWEST_CHARACTERS && new Set(token).size >= FEWEST_DIFFERENT;
}

/**
 * Returns why the chat page needs an access token, where it is on and has none: what is reachable from outside spends
 * money for whoever finds it. Empty where nothing is wrong.
 */
export function exposureProblems(given: Given, isLoopback: (host: string) => boolean): string[] {
  const { HOST: host = '127.0.0.1', PUBLIC_URL: publicUrl = '', PLAYGROUND_TOKEN: token } = given;
  if (token !== undefined) return [];
  const isPublic = URL.canParse(publicUrl) && !isLoopback(new URL(publicUrl).hostname);
  const exposed = [...(isLoopback(host) ? [] : [`HOST=${host}`]), ...(isPublic ? ['PUBLIC_URL'] : [])];
  if (exposed.length === 0) return [];
  return [
    `PLAYGROUND_TOKEN: not set; ${exposed.join(' and ')} ${exposed.length === 1 ? 'leads' : 'lead'} beyond this machine and the playground spends money, ` +
      `so it takes an access token of ${HARD_TO_GUESS} (or PLAYGROUND=off)`,
  ];
}
