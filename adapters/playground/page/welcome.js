import { html } from 'htm/preact';
import { closeDialog, Dialog } from '#src/http/shared-page/dialog.js';

/** Command that a first visitor can try as the manager. */
const BUDGET_EXAMPLE = '/video budget team 0.50 USD';

const EXAMPLE = '/video create a red fox running through snow, cinematic';

export function Welcome({ channel, isEmbeddedService, onExample, onManage, onConnect }) {
  return html`
    <section class="welcome" aria-labelledby="welcome-title">
      <img src="/playground/page/icon.svg" alt="" width="56" height="56" />
      <h1 id="welcome-title">Make a clip in #${channel}</h1>
      <p>Say what it should show. I’ll order the clip, follow its progress and post it here.</p>
      <button type="button" class="example" onClick=${() => onExample(EXAMPLE)}>
        <span class="example-text">${EXAMPLE}</span><span class="example-go">Try it</span>
      </button>
      <p class="quiet">
        ${
          isEmbeddedService
            ? 'No video service is connected: Dailies draws the clips itself, and the prices are for show.'
            : 'Clips come from the connected video service, which bills them.'
        }
      </p>
      <p class="quiet">
        Anyone here can be anyone, and every channel is open to all. The manager is <b>operator</b>, who sets budgets:${' '}
        <button type="button" class="plain-link try-budget" onClick=${() => onManage(BUDGET_EXAMPLE)}>try <code>${BUDGET_EXAMPLE}</code></button>.
        Then be someone else (below the channels) and order until it is used up. <b>Ask for approval</b> there, and approve it as operator.
      </p>
      <p class="quiet">Type <kbd>/</kbd> for every command, or <button type="button" class="plain-link" onClick=${onConnect}>connect Discord or Slack</button>.</p>
    </section>
  `;
}

const code = (text) => html`<code>${text}</code>`;
const link = (href, label) => html`<a href=${href} target="_blank" rel="noreferrer">${label}</a>`;

const GUIDES = [
  {
    title: 'Discord',
    steps: [
      html`Create an application under ${link('https://discord.com/developers/applications', 'Discord’s developer portal')}. Under Bot, turn off Public Bot and copy the token.`,
      html`Put ${code('DISCORD_TOKEN=…')} into the file ${code('.env')}.`,
      html`Run ${code('npm run commands')}: it prints the link that invites the bot to your server.`,
      html`Restart with ${code('npm start')}. The bot registers its commands by itself.`,
    ],
  },
  {
    title: 'Slack',
    steps: [
      html`Run ${code('npm run commands')}: it prints a link that creates the app with its manifest filled in.`,
      html`Create it, install it to your workspace, and find it again under ${link('https://api.slack.com/apps', 'Your Apps')}.`,
      html`Put ${code('SLACK_BOT_TOKEN=xoxb-…')} and ${code('SLACK_APP_TOKEN=xapp-…')} into the file ${code('.env')}.`,
      html`Restart with ${code('npm start')}.`,
    ],
  },
  {
    title: 'A real video service',
    steps: [
      html`Create an API token in the service’s console.`,
      html`Put its address (without /v1) and the token into ${code('.env')}: ${code('VIDEO_API_BASE_URL')}, ${code('VIDEO_API_TOKEN')}.`,
      html`Write its models and prices into a JSON file, and its path into ${code('MODEL_CATALOG')}.`,
      html`Restart with ${code('npm start')}.`,
    ],
  },
];

/** Dialog with the steps to connect each platform and a video service. */
export function Connect({ onClose }) {
  return html`
    <${Dialog} kind="form connect" title="Connect Discord or Slack" onClose=${onClose}>
      <p class="quiet">Settings are environment variables; docs/configuration.md lists all of them.</p>
      ${GUIDES.map(
        ({ title, steps }) => html`
        <section key=${title}>
          <h3>${title}</h3>
          <ol>${steps.map((step, index) => html`<li key=${index}>${step}</li>`)}</ol>
        </section>
      `,
      )}
      <div class="buttons end"><button type="button" class="button primary" onClick=${closeDialog}>Close</button></div>
    <//>
  `;
}
