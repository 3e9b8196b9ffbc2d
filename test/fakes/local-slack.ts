import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { freePort } from './ports.ts';

/** A third-party Slack-like server with a web page; enforces few limits, and is independent of this project. */
export interface LocalSlack {
  readonly url: string;
  /** Environment variables for the bot. */
  readonly env: Readonly<Record<string, string>>;
  readonly close: () => Promise<void>;
}

const WORKSPACE = {
  workspace: { name: 'Acme', domain: 'acme', teamId: 'T01ACME' },
  app: {
    appId: 'A01APP',
    botUserId: 'U0BOT',
    botName: 'dailies',
    botToken: 'xoxb-local',
    appToken: 'xapp-local',
    signingSecret: 'local',
    mode: 'socket',
  },
  users: [{ id: 'U01ALICE', name: 'alice', real_name: 'Alice' }],
  channels: [{ id: 'C01GEN', name: 'general', members: ['U01ALICE', 'U0BOT'] }],
};

/**
 * Returns the path of its binary from npm (an optional dependency, for Linux on x64); `null` if it is not installed.
 */
export function localSlackProgram(): string | null {
  try {
    const manifest = createRequire(import.meta.url).resolve('local-slack-linux-x64/package.json');
    const program = join(dirname(manifest), 'bin', 'local-slack');
    return existsSync(program) ? program : null;
  } catch {
    return null;
  }
}

/** Starts the server on a free port, with one channel that has alice and the bot as members. */
export async function startLocalSlack(program: string): Promise<LocalSlack> {
  const dir = await mkdtemp(join(tmpdir(), 'dailies-local-slack-'));
  const config = join(dir, 'config.json');
  await writeFile(config, JSON.stringify(WORKSPACE));
  const port = await freePort();
  const settings = [
    '--config',
    config,
    '--port',
    `${port}`,
    '--base-host',
    '127.0.0.1',
    '--files-dir',
    join(dir, 'files'),
  ];
  const child = spawn(program, settings, { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (text.includes('Control API')) resolve();
    });
    child.once('exit', (code) => reject(new Error(`local-slack ended with ${code}`)));
  });
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    env: { SLACK_BOT_TOKEN: 'xoxb-local', SLACK_APP_TOKEN: 'xapp-local', SLACK_API_URL: `${url}/api/` },
    async close() {
      child.kill();
      await once(child, 'exit');
      await rm(dir, { recursive: true, force: true });
    },
  };
}
