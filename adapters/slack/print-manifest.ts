import { loadEnvFile } from '#src/env-file.ts';
import { slackManifest } from './manifest.ts';

// `npm run commands`: what is to be pasted at https://api.slack.com/apps ("Create New App", "From a manifest").

for (const problem of loadEnvFile()) process.stderr.write(`${problem}\n`);
const { PUBLIC_URL: publicUrl = 'https://YOUR-ADDRESS' } = process.env;

process.stdout.write(`Slack, for Socket Mode (SLACK_APP_TOKEN):
${JSON.stringify(slackManifest(null), null, 2)}

Slack, for HTTP (SLACK_SIGNING_SECRET), with the bot reachable at ${publicUrl}:
${JSON.stringify(slackManifest(publicUrl), null, 2)}
`);
