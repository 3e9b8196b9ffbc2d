import { useEffect, useRef } from 'preact/hooks';
import { html } from './html.js';

export const EXAMPLE = '/video create a red fox running through snow, cinematic';

/** What a channel says before anything was said in it. */
export function Welcome({ channel, isEmbeddedService, onExample, onConnect }) {
  return html`
    <section class="welcome" aria-labelledby="welcome-title">
      <img src="/playground/page/icon.svg" alt="" width="56" height="56" />
      <h1 id="welcome-title">Make a clip in #${channel}</h1>
      <p>Say what it should show. I order it once, follow it to its end, and put it here.</p>
      <button type="button" class="example" onClick=${() => onExample(EXAMPLE)}>
        <span class="example-text">${EXAMPLE}</span><span class="example-go">Try it</span>
      </button>
      <p class="quiet">
        ${
          isEmbeddedService
            ? 'No video service is connected: this program draws the clips itself, and the prices are for show.'
            : 'The clips come from the connected video service and are billed by it.'
        }
      </p>
      <p class="quiet">Type <kbd>/</kbd> for every command, or <button type="button" class="plain-link" onClick=${onConnect}>see how to go on</button>.</p>
    </section>
  `;
}

const WAYS = [
  {
    title: 'A real video service',
    steps: [
      ['Create an API token in the console of the service.'],
      ['Set ', 'VIDEO_API_BASE_URL', ' to its address (without /v1) and ', 'VIDEO_API_TOKEN', ' to the token.'],
      ['Write its models and prices into a JSON file and set ', 'MODEL_CATALOG', ' to its path.'],
      ['Start again: ', 'npm start'],
    ],
  },
  {
    title: 'Discord',
    steps: [
      ['Make an application with a bot at discord.com/developers, and invite it to your server.'],
      ['Set ', 'DISCORD_TOKEN', ' to the bot’s token.'],
      ['Register the commands once: ', 'npm run commands'],
      ['Start again: ', 'npm start'],
    ],
  },
  {
    title: 'Slack',
    steps: [
      ['Print the manifest with ', 'npm run commands', ' and paste it at api.slack.com/apps, Create New App.'],
      ['Install it to the workspace; set ', 'SLACK_BOT_TOKEN', ' and ', 'SLACK_APP_TOKEN', '.'],
      ['Start again: ', 'npm start'],
    ],
  },
];

/** How to go on from the playground, each way in a few steps. Every second piece of a step is to be copied. */
export function Connect({ onClose }) {
  const dialog = useRef(null);
  useEffect(() => dialog.current?.showModal(), []);
  return html`
    <dialog class="form connect" ref=${dialog} onClose=${onClose} aria-labelledby="connect-title">
      <h2 id="connect-title">How to go on</h2>
      <p class="quiet">Settings are environment variables; README.md lists all of them.</p>
      ${WAYS.map(
        ({ title, steps }) => html`
        <section key=${title}>
          <h3>${title}</h3>
          <ol>${steps.map((step) => html`<li key=${step[0]}>${step.map((piece, index) => (index % 2 === 1 ? html`<code key=${index}>${piece}</code>` : piece))}</li>`)}</ol>
        </section>
      `,
      )}
      <div class="buttons end"><button type="button" class="button primary" onClick=${() => dialog.current?.close()}>Close</button></div>
    </dialog>
  `;
}
