import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { slackManifest } from '#adapters/slack/installation/manifest.ts';
import { PROGRAM_ENV } from '#test/fakes/program-env.ts';

const SCRIPT = join(import.meta.dirname, '../../../../../adapters/slack/installation/cli.ts');

/** Returns the script's output with that environment, from a folder without a `.env`. */
function printed(env: Readonly<Record<string, string>>): string {
  const options = { cwd: tmpdir(), env: { ...PROGRAM_ENV, ...env }, encoding: 'utf8' } as const;
  const { status, stdout } = spawnSync(process.execPath, [SCRIPT], options);
  expect(status).toBe(0);
  return stdout;
}

/** Returns the manifests in the link and in the text. */
function manifestsIn(text: string): readonly unknown[] {
  const link = new URL(/https:\/\/api\.slack\.com\/apps\?\S+/.exec(text)?.[0] ?? '');
  expect(link.searchParams.get('new_app')).toBe('1');
  return [
    JSON.parse(link.searchParams.get('manifest_json') ?? ''),
    JSON.parse(/^\{[\s\S]*?^\}/m.exec(text)?.[0] ?? ''),
  ];
}

it('prints a link that creates the app for Socket Mode by default', () => {
  const wanted = slackManifest(null);
  expect(manifestsIn(printed({}))).toEqual([wanted, wanted]);
});

it('asks for links of PUBLIC_URL in Socket Mode, too', () => {
  const wanted = slackManifest('https://dailies.example', 'socket');
  expect(manifestsIn(printed({ PUBLIC_URL: 'https://dailies.example' }))).toEqual([wanted, wanted]);
});

it('fills PUBLIC_URL into the manifest for HTTP mode', () => {
  const wanted = slackManifest('https://dailies.example');
  const env = { SLACK_SIGNING_SECRET: 'x', PUBLIC_URL: 'https://dailies.example' };
  expect(manifestsIn(printed(env))).toEqual([wanted, wanted]);
});
