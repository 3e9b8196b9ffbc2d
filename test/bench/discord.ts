import { type FakeDiscord, type FakeDiscordOptions, startDiscord } from '#test/fakes/discord/index.ts';
import { type Program, startProgram } from './program.ts';

/** The whole program on a strict Discord, which runs in the benchmark's process instead of the measured one. */
export interface OnDiscord {
  readonly discord: FakeDiscord;
  readonly program: Program;
  /** Returns the violations that Discord recorded, as a remark. */
  readonly conduct: () => string;
  readonly stop: () => Promise<void>;
}

/** Options of {@link startOnDiscord}. */
export interface OnDiscordOptions {
  readonly folder: string;
  /** Base URL of the video service. */
  readonly baseUrl: string;
  readonly settings?: Readonly<Record<string, string>>;
  readonly fake?: FakeDiscordOptions;
}

/** Starts both. Resolves once the program is connected and has its commands registered. */
export async function startOnDiscord({ folder, baseUrl, settings, fake }: OnDiscordOptions): Promise<OnDiscord> {
  const discord = await startDiscord(fake);
  const program = await startProgram(folder, baseUrl, { ...discord.env, ...settings });
  await discord.botReady();
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

/** Waits for a condition without failing: the figures show what is missing. @returns whether it became true. */
export async function came(discord: FakeDiscord, isTrue: () => boolean, withinMs: number): Promise<boolean> {
  return discord.until(isTrue, 'a benchmark', withinMs).then(
    () => true,
    () => false,
  );
}
