import type { Platform } from '../chat/index.ts';
import { type Clock, within } from '../clock.ts';
import { type Config, VERSION } from '../config/index.ts';
import { asDailiesError } from '../errors.ts';
import { standardOutput } from '../output.ts';
import type { ServiceConfig } from '../videos/index.ts';

/** Timeout of each platform's connection status in the greeting. */
const CONNECTION_TIMEOUT_MS = 3_000;

/** Reads the connection status of every platform. Never rejects. @returns a description by platform name. */
export async function connectionsOf(
  platforms: Iterable<Platform>,
  clock: Clock,
): Promise<Readonly<Record<string, string>>> {
  const connections = [...platforms].map(async (platform): Promise<readonly [string, string]> => {
    const status = platform
      .connection()
      .catch((thrown: unknown) => asDailiesError(thrown, 'asking for the connection').message);
    return [platform.name, await within(clock, CONNECTION_TIMEOUT_MS, status, 'connecting …')];
  });
  return Object.fromEntries(await Promise.all(connections));
}

/** Prints the greeting: the address to open, the connections by platform title, the video service and the version. */
export function greet(
  config: Pick<Config, 'playground'> & { readonly services: readonly ServiceConfig[] },
  address: string,
  connections: readonly (readonly [string, string])[],
): void {
  const { isOn, accessToken } = config.playground;
  const page = accessToken === undefined ? address : `${address}/?token=… (your PLAYGROUND_TOKEN)`;
  const invitation = isOn ? `Open ${page} and type /video a red fox running through snow` : `Listening at ${address}`;
  const named = config.services.map(({ name, baseUrl }) => (name === undefined ? baseUrl : `${name} (${baseUrl})`));
  const service = named.length === 0 ? 'the embedded sandbox makes the clips' : named.join(', ');
  const lines = connections.map(([title, status]) => `${title}: ${status}\n`);
  standardOutput().write(
    `\nDailies is ready. ${invitation}\n${lines.join('')}Video service: ${service}\nVersion: ${VERSION}\n\n`,
  );
}
