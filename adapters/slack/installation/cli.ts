import { loadEnvFile } from '#src/env-file.ts';
import { slackManifest } from './manifest.ts';

// Second half of `npm run commands`: prints the link that creates the Slack app, and its manifest.

for (const problem of loadEnvFile()) process.stderr.write(`${problem}\n`);
const { PUBLIC_URL: publicUrl, SLACK_APP_TOKEN: appToken, SLACK_SIGNING_SECRET: signingSecret } = process.env;

process.stdout.write(manifestText());

/** Returns the instructions for the configured mode. Default: Socket Mode, which needs no public address. */
function manifestText(): string {
  const isHttp = (appToken ?? '') === '' && (signingSecret ?? '') !== '';
  if (!isHttp) {
    return `${text('Socket Mode (SLACK_APP_TOKEN)', slackManifest(publicUrl === undefined || publicUrl === '' ? null : publicUrl, 'socket'))}
For HTTP mode, set SLACK_SIGNING_SECRET and PUBLIC_URL in .env and run this again.\n`;
  }
  const address = publicUrl ?? 'https://YOUR-ADDRESS';
  return text(`HTTP (SLACK_SIGNING_SECRET), with the bot reachable at ${address}`, slackManifest(address));
}

/** @see https://docs.slack.dev/app-manifests/configuring-apps-with-app-manifests#sharing */
function text(mode: string, manifest: object): string {
  const link = `https://api.slack.com/apps?new_app=1&manifest_json=${encodeURIComponent(JSON.stringify(manifest))}`;
  return `
Slack, for ${mode}. Open this link to create the app, manifest included:

${link}

Or paste the manifest at https://api.slack.com/apps › Create New App › From a manifest:

${JSON.stringify(manifest, null, 2)}
`;
}
