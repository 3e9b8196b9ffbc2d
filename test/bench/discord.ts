import { type FakeDiscord, type FakeDiscordOptions, startDiscord } from '#test/fakes/discord/index.ts';
import { type Program, startProgram } from './program.ts';

/** The whole program on a strict Discord that stands in the process of the benchmark, not in the measured one. */
export interface OnDiscord {
  readonly discord: FakeDiscord;
  readonly program: Program;
  /** What Discord held against the program, for a remark. */
  readonly conduct: () => string;
  readonly stop: () => Promise<void>;
}

/** Where the program stands, and its settings and Discord's. */
export interface OnDiscordOptions {
  readonly folder: string;
  /** Of the video service. */
  readonly baseUrl: string;
  readonly settings?: Readonly<Record<string, string>>;
  readonly fake?: FakeDiscordOptions;
}

/** Starts both; the program is connected and has its commands registered. */
export async function startOnDiscord({ folder, baseUrl, settings, fake }: OnDiscordOptions): Promise<OnDiscord> {
  const discord = await startDiscord(fake);
  const own = { DISCORD_TOKEN: discord.token, DISCORD_API_URL: discord.apiUrl };
  const program = await startProgram(folder, baseUrl, { ...own, ...settings });
  await discord.until(() => discord.commands().length > 0 && discord.gateway.isConnected, 'the commands');
  return {
    discord,
    program,
    conduct() {
      const [first] = discord.violations;
      const violations = `${discord.violations.length} violations${first === undefined ? '' : ` (first: ${first})`}`;
      return `${violations}, ${discord.rateLimited} answers of 429`;
    },
    async stop() {
      program.stop();
      await discord.close();
    },
  };
}

/** Waits without insisting: what did not come is seen in the figures. @returns whether it came */
export async function came(discord: FakeDiscord, isTrue: () => boolean, withinMs: number): Promise<boolean> {
  return discord.until(isTrue, 'a benchmark', withinMs).then(
    () => true,
    () => false,
  );
}
