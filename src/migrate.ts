import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock as clock } from './clock.ts';
import { dataDirOf } from './config/index.ts';
import {
  type Digest,
  isStoreUrl,
  migrate,
  openStore,
  type Part,
  type Store,
  sqlitePath,
  withoutPassword,
} from './engine/index.ts';
import { asDailiesError, DailiesError } from './errors.ts';
import { createLogger } from './logger.ts';

// `npm run migrate -- --from sqlite:… --to redis://…`: copies everything in a store to another one.

const USAGE = `Usage: npm run migrate -- --from STORE --to STORE
A store is sqlite:PATH, redis://… or rediss://…, as in STORE_URL. Stop every bot on both first.`;

/** Returns the two store URLs, or prints what is wrong with them and exits. */
function addresses(): { readonly from: string; readonly to: string } {
  const { from, to } = parsed();
  if (from === undefined || to === undefined) return fail(USAGE);
  for (const [name, url] of [
    ['--from', from],
    ['--to', to],
  ] as const) {
    if (!isStoreUrl(url)) return fail(`${name} is not the address of a store.\n${USAGE}`);
  }
  if (identityOf(from) === identityOf(to)) return fail(`--from and --to are the same store.\n${USAGE}`);
  const file = sqlitePath(from);
  if (file !== null && !existsSync(file)) {
    return fail(`There is no file ${file} to migrate from (looked for from ${process.cwd()}).`);
  }
  return { from, to };
}

function parsed(): { readonly from?: string; readonly to?: string } {
  try {
    return parseArgs({ options: { from: { type: 'string' }, to: { type: 'string' } } }).values;
  } catch (thrown) {
    return fail(`${asDailiesError(thrown, 'reading the options').message}\n${USAGE}`);
  }
}

function identityOf(url: string): string {
  const file = sqlitePath(url);
  return file === null ? url : resolve(file);
}

async function open(url: string, name: string): Promise<Store> {
  try {
    return await openStore(url, { logger: createLogger('warn'), clock });
  } catch (thrown) {
    const { code, message } = asDailiesError(thrown, 'opening');
    const reason = code === 'store_locked' ? 'a bot is running on it; stop it first' : message;
    throw new DailiesError(`${name} (${withoutPassword(url)}) cannot be used: ${reason}`, {
      code,
      retryable: false,
      cause: thrown,
    });
  }
}

/** Formats the verified copy as a table with one row per part, and says how to go on. */
function report(copied: ReadonlyMap<Part, Digest>, from: string, to: string): string {
  const rows = [...copied].map(([part, { count }]) => `${part.padEnd(14)}${String(count).padStart(10)}\n`);
  const [fromDir, toDir] = [resolve(dataDirOf(from)), resolve(dataDirOf(to))];
  const files =
    fromDir === toDir
      ? `Clips and other files stay where they are, in ${fromDir}; every replica needs that folder.`
      : `Clips and other files are not moved: they are in ${fromDir}. A bot on the target that is started here looks in ` +
        `${toDir}: copy the folders clips, relay, playground and sandbox there, as far as they exist. Every replica needs ` +
        'that folder.';
  const summary = 'Copied, read again from the target, and found equal by count and hash.';
  return `${rows.join('')}\n${summary}\n${files}\nStart Dailies with STORE_URL=${withoutPassword(to)}\n`;
}

function fail(sentence: string): never {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

async function main(): Promise<void> {
  process.umask(0o077);
  const { from, to } = addresses();
  const opened: Store[] = [];
  try {
    const source = await open(from, '--from');
    opened.push(source);
    const target = await open(to, '--to');
    opened.push(target);
    process.stdout.write(`Migrating from ${withoutPassword(from)} to ${withoutPassword(to)}\n\n`);
    process.stdout.write(report(await migrate({ from: source, to: target, clock }), from, to));
  } catch (thrown) {
    process.stderr.write(`${asDailiesError(thrown, 'migrating').message}\n`);
    process.exitCode = 1;
  }
  for (const store of opened) await store.close();
}

await main();
