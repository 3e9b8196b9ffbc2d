import { randomBytes, randomUUID } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';

/** Where the sandbox of a folder is reached by all that share the folder. */
export interface SandboxAddress {
  /** Names the folder's sandbox, whoever runs it. */
  readonly id: string;
  /** The machine (or container) it runs on: it listens on loopback alone. */
  readonly host: string;
  readonly port: number;
  /** Bearer token; the file that holds it is for its owner alone. */
  readonly token: string;
}

const SCHEMA = z.object({ id: z.string(), host: z.string(), port: z.number(), token: z.string() });
/**
 * Below what systems give to outgoing connections, so that nobody gets the port by chance between one who served there
 * and the next.
 * @see {@link https://www.rfc-editor.org/rfc/rfc6335#section-6}
 */
const PORTS = { first: 20_000, count: 12_000 } as const;

/** A new address on this machine. @param random from 0 to below 1. */
export function newAddress(random: number): SandboxAddress {
  const port = PORTS.first + Math.floor(random * PORTS.count);
  return { id: randomUUID(), host: hostname(), port, token: `sk-sandbox-${randomBytes(18).toString('hex')}` };
}

/** What the folder's file says; `null` where there is none that can be read. */
export async function readAddress(dataDir: string): Promise<SandboxAddress | null> {
  try {
    return SCHEMA.parse(JSON.parse(await readFile(fileOf(dataDir), 'utf8')));
  } catch {
    return null;
  }
}

/** Writes the folder's file, all of it at once. */
export async function writeAddress(dataDir: string, address: SandboxAddress): Promise<void> {
  const whole = `${fileOf(dataDir)}.${process.pid}`;
  await writeFile(whole, `${JSON.stringify(address)}\n`, { mode: 0o600 });
  await rename(whole, fileOf(dataDir));
}

function fileOf(dataDir: string): string {
  return join(dataDir, 'address.json');
}
