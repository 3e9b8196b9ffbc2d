import { html } from 'htm/preact';
import { Emoji } from '../icons.js';
import { elapsed, relativeTime, Time, useSeconds } from '../time.js';
import { isPending } from './phases.js';

/**
 * Text of a card, block by block. Untrusted parts are rendered as plain text; links come from the bot alone.
 * @param {object} props `children`: what is between its first block and the others
 */
export function Blocks({ card, children, ...more }) {
  const blocks = card.blocks.map((block, index) => html`<${Block} key=${index} block=${block} ...${more} />`);
  return html`<div class="card">${blocks[0]}${children}${blocks.slice(1)}</div>`;
}

function Block({ block, clip, busy, onJump, onPress }) {
  switch (block.kind) {
    case 'heading':
      return html`<h2 class="heading" dir="auto"><${Line} line=${block.line} onJump=${onJump} /></h2>`;
    case 'small':
      return html`<p class="small" dir="auto"><${Line} line=${block.line} clip=${clip} onJump=${onJump} /></p>`;
    case 'picture':
      return html`<img class="strip" src=${block.picture.url} alt=${shownText(block.picture.alt)} loading="lazy" onError=${hide} />`;
    case 'divider':
      return html`<hr />`;
    case 'table':
      return html`<${Table} block=${block} onJump=${onJump} />`;
    case 'item':
      return html`<${Item} block=${block} clip=${clip} busy=${busy} onJump=${onJump} onPress=${onPress} />`;
    default:
      return html`<p class=${clip === null ? '' : 'status'} dir="auto"><${Line} line=${block.line} clip=${clip} onJump=${onJump} /></p>`;
  }
}

/** Row of a title and small print, with its button at the end. A row that leads to a message is one link as a whole. */
function Item({ block: { title, small, accessory, picture }, busy, onJump, onPress }) {
  const words = html`
    ${picture !== undefined && html`<img class="item-picture" src=${picture.url} alt=${shownText(picture.alt)} loading="lazy" onError=${hide} />`}
    <span class="item-words">
      <span class="headline" dir="auto"><${Line} line=${title} onJump=${onJump} /></span>
      ${small.length > 0 && html`<span class="small" dir="auto"><${Line} line=${small} onJump=${onJump} /></span>`}
    </span>
  `;
  if (accessory?.message !== undefined && ![...title, ...small].some(isLink)) {
    return html`
      <button type="button" class="item item-link" onClick=${() => onJump(accessory.message)}>
        ${words}<span class="item-go">${accessory.label}</span>
      </button>
    `;
  }
  return html`
    <div class="item">
      ${words}
      ${accessory !== undefined && html`<${Accessory} accessory=${accessory} busy=${busy} onJump=${onJump} onPress=${onPress} />`}
    </div>
  `;
}

/** Hides a picture that cannot be had any more. */
function hide({ currentTarget }) {
  currentTarget.hidden = true;
}

function isLink(part) {
  return typeof part === 'object' && ('message' in part || 'channel' in part || 'link' in part);
}

function Accessory({ accessory, busy, onJump, onPress }) {
  const { label, message } = accessory;
  if (message === undefined) return html`<${PressButton} button=${accessory} busy=${busy} onPress=${onPress} />`;
  return html`<button type="button" class="button plain" onClick=${() => onJump(message)}>${label}</button>`;
}

/** Buttons at the end of a card. */
export function Buttons({ buttons, busy, onPress }) {
  if (buttons.length === 0) return null;
  return html`<div class="buttons">${buttons.map((button) => html`<${PressButton} key=${button.id} button=${button} busy=${busy} onPress=${onPress} />`)}</div>`;
}

/** Selects of the bot: choosing an option presses it. */
export function Selects({ selects = [], busy, onPress }) {
  const choose = ({ currentTarget }) => {
    if (busy === null) onPress(currentTarget.value);
    // It shows no state, and may choose the same again.
    currentTarget.value = '';
  };
  if (selects.length === 0) return null;
  return html`
    <div class="buttons">
      ${selects.map(
        ({ placeholder, options }) => html`
        <select key=${placeholder} class="button plain choice" aria-label=${placeholder} aria-disabled=${busy !== null} value="" onChange=${choose}>
          <option value="">${placeholder}</option>
          ${options.map(({ id, label }) => html`<option key=${id} value=${id}>${shownText(label)}</option>`)}
        </select>
      `,
      )}
    </div>
  `;
}

/** Button of the bot, `aria-disabled` while a press is in flight: `disabled` would drop the focus. */
function PressButton({ button: { id, label, style }, busy, onPress }) {
  return html`
    <button type="button" class=${`button ${style}`} aria-busy=${busy === id} aria-disabled=${busy !== null}
      onClick=${() => onPress(id)}>${label}</button>
  `;
}

function Table({ block: { columns, rows }, onJump }) {
  return html`
    <div class="table" role="region" aria-label=${columns.join(', ')} tabindex="0">
      <table>
        <thead><tr>${columns.map((name) => html`<th key=${name} scope="col">${name}</th>`)}</tr></thead>
        <tbody>
          ${rows.map(
            (cells, row) => html`
            <tr key=${row}>
              ${cells.map((line, at) => (at === 0 ? html`<th key=${at} scope="row"><${Line} line=${line} onJump=${onJump} /></th>` : html`<td key=${at}><${Line} line=${line} onJump=${onJump} /></td>`))}
            </tr>
          `,
          )}
        </tbody>
      </table>
    </div>
  `;
}

/** Emoji in the bot's texts, drawn since not every font has them. */
const EMOJI_IN_TEXT = /(🔁|❌)/u;

function drawn(text) {
  return text
    .split(EMOJI_IN_TEXT)
    .map((piece, index) => (index % 2 === 1 ? html`<${Emoji} key=${index} emoji=${piece} />` : piece));
}

function Line({ line, clip = null, onJump }) {
  return line.map((part, index) => html`<${Part} key=${index} part=${part} clip=${clip} onJump=${onJump} />`);
}

function Part({ part, clip, onJump }) {
  if (typeof part === 'string') return EMOJI_IN_TEXT.test(part) ? drawn(part) : ticking(part, clip);
  if ('untrusted' in part) return html`<span class="untrusted">${shownText(part.untrusted)}</span>`;
  if ('atSeconds' in part)
    return html`<button type="button" class="plain-link" aria-label=${`Show the clip at ${part.strong}`} onClick=${() => onJump(part)}>${part.strong}</button>`;
  if ('strong' in part) return html`<strong class="untrusted">${shownText(part.strong)}</strong>`;
  if ('code' in part) return html`<${Code} text=${part.code} />`;
  if ('timeMs' in part) return html`<${Moment} timeMs=${part.timeMs} />`;
  if ('person' in part) return html`<bdi class="person">${shownText(part.person.name)}</bdi>`;
  if ('group' in part) return html`<bdi class="mention">${shownText(part.group.name)}</bdi>`;
  if ('mention' in part) return html`<bdi class="mention">@${shownText(part.mention.name)}</bdi>`;
  if ('channel' in part)
    return html`<${Jump} to=${{ channel: part.channel, message: null }} label=${`#${part.channel}`} onJump=${onJump} />`;
  if ('message' in part) return html`<${Jump} to=${part.message} label=${part.label} onJump=${onJump} />`;
  return html`<a href=${safeUrl(part.link)} target="_blank" rel="noreferrer">${part.label}</a>`;
}

/** Relative time, updated every second; the exact local time on hover. */
function Moment({ timeMs }) {
  useSeconds();
  return html`<${Time} timeMs=${timeMs} words=${relativeTime(timeMs)} />`;
}

/** Longest code in characters that is kept on one line, such as `--seconds 6`. */
const MAX_UNBROKEN_CODE = 32;

function Code({ text }) {
  return html`<code class=${text.length <= MAX_UNBROKEN_CODE ? 'unbroken' : ''}>${text}</code>`;
}

/** Control characters and bidirectional overrides, which can spoof the displayed text. */
const INVISIBLE = /(?![\t\n])[\p{Cc}\p{Bidi_Control}]/gu;

function shownText(text) {
  return text.replace(INVISIBLE, '');
}

function Jump({ to, label, onJump }) {
  return html`<button type="button" class="plain-link" onClick=${() => onJump(to)}>${label}</button>`;
}

/** Advances the elapsed time in a text, which is as of its rendering, while the task is active. */
function ticking(words, clip) {
  if (!isPending(clip) || clip.endedAtMs !== null) return words;
  const then = elapsed(clip.wordedAtMs - clip.startedAtMs);
  const at = words.indexOf(then);
  if (at < 0) return words;
  const now = elapsed(Math.max(Date.now(), clip.wordedAtMs) - clip.startedAtMs);
  return [words.slice(0, at), html`<span class="ticking">${now}</span>`, words.slice(at + then.length)];
}

/** Returns the link if it is an HTTP(S) URL, as a second check: links come from the bot alone. */
function safeUrl(link) {
  return /^https?:\/\//.test(link) ? link : undefined;
}
