import { randomBytes, randomUUID } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';

/** Address of the sandbox of a folder, for every replica that shares the folder. */
export interface SandboxAddress {
  /** Id of the folder's sandbox, the same on whichever replica serves it. */
  readonly id: string;
  /** Machine (or container) it runs on; it listens on loopback alone. */
  readonly host: string;
  readonly port: number;
  /** Bearer token; the file that holds it is readable by its owner only. */
  readonly token: string;
}

const SCHEMA = z.object({ id: z.string(), host: z.string(), port: z.number(), token: z.string() });
/**
 * Below the ephemeral ports, so that no outgoing connection takes the port by chance between one serving replica and
 * the next.
 * @see {@link https://www.rfc-editor.org/rfc/rfc6335#section-6}
 */
const PORTS = { first: 20_000, count: 12_000 } as const;

/** Returns a new address on this machine. @param random from 0 to below 1. */
export function newAddress(random: number): SandboxAddress {
  const port = PORTS.first + Math.floor(random * PORTS.count);
  return { id: randomUUID(), host: hostname(), port, token: `sk-sandbox-${randomBytes(18).toString('hex')}` };
}

/** Reads the address file of the folder; `null` if it is missing or unreadable. */
export async function readAddress(dataDir: string): Promise<SandboxAddress | null> {
  try {
    return SCHEMA.parse(JSON.parse(await readFile(fileOf(dataDir), 'utf8')));
  } catch {
    return null;
  }
}

/** Writes the address file of the folder atomically. */
export async function writeAddress(dataDir: string, address: SandboxAddress): Promise<void> {
  const temporary = `${fileOf(dataDir)}.${process.pid}`;
  await writeFile(temporary, `${JSON.stringify(address)}\n`, { mode: 0o600 });
  await rename(temporary, fileOf(dataDir));
}

function fileOf(dataDir: string): string {
  return join(dataDir, 'address.json');
}
