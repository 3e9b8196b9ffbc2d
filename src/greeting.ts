import type { Platform } from './chat/platform.ts';
import { type Clock, within } from './clock.ts';
import type { Config } from './config.ts';
import { asDailiesError } from './errors.ts';
import { standardOutput } from './output.ts';

/** How long the greeting waits for platforms to say what they are connected to. */
const CONNECTED_WITHIN_MS = 3_000;

/** Asks every platform what it is connected to. Never rejects. @returns words by the platform's name. */
export async function connectionsOf(
  platforms: Iterable<Platform>,
  clock: Clock,
): Promise<Readonly<Record<string, string>>> {
  const asked = [...platforms].map(async (platform): Promise<readonly [string, string]> => {
    const words = platform
      .connection()
      .catch((thrown: unknown) => asDailiesError(thrown, 'asking for the connection').message);
    return [platform.name, await within(clock, CONNECTED_WITHIN_MS, words, 'connecting …')];
  });
  return Object.fromEntries(await Promise.all(asked));
}

/** Prints what the person in front of the terminal wants to know. */
export function greet(config: Config, address: string, connections: Readonly<Record<string, string>>): void {
  const { isOn, accessToken } = config.playground;
  const page = accessToken === undefined ? address : `${address}/?token=… (your PLAYGROUND_TOKEN)`;
  const invitation = isOn ? `Open ${page} and type /video a red fox running through snow` : `Listening at ${address}`;
  const service =
    config.videoService === undefined ? 'the embedded sandbox makes the clips' : config.videoService.baseUrl;
  const lines = Object.entries(connections).map(([name, words]) => `${TITLES[name] ?? name}: ${words}\n`);
  standardOutput().write(`\nDailies is ready. ${invitation}\n${lines.join('')}Video service: ${service}\n\n`);
}

const TITLES: Readonly<Record<string, string>> = { discord: 'Discord', slack: 'Slack', playground: 'Playground' };
