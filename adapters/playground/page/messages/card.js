import { html } from '../html.js';
import { Emoji } from '../icons.js';
import { elapsed, Moment } from '../time.js';

const MOVING = ['queued', 'running', 'fetching'];

/** Emoji by the names that the bot's words give them. */
const EMOJI = { ':repeat:': '🔁', ':x:': '❌' };

/** Those in the bot's own words, which not every machine has a font for. */
const EMOJI_IN_TEXT = /(🔁|❌)/u;

function drawn(text) {
  return text
    .split(EMOJI_IN_TEXT)
    .map((piece, index) => (index % 2 === 1 ? html`<${Emoji} key=${index} emoji=${piece} />` : piece));
}

/** A line of a card. Whatever came from outside is text and nothing else; links are the bot's own. */
export function Line({ line, clip = null, onJump }) {
  return line.map((part, index) => html`<${Part} key=${index} part=${part} clip=${clip} onJump=${onJump} />`);
}

function Part({ part, clip, onJump }) {
  if (typeof part === 'string') return EMOJI_IN_TEXT.test(part) ? drawn(part) : ticking(part, clip);
  if ('untrusted' in part) return html`<span class="untrusted">${shownText(part.untrusted)}</span>`;
  if ('strong' in part) return html`<strong class="untrusted">${shownText(part.strong)}</strong>`;
  if ('code' in part)
    return part.code in EMOJI ? html`<${Emoji} emoji=${EMOJI[part.code]} />` : html`<${Code} text=${part.code} />`;
  if ('timeMs' in part) return html`<${Moment} timeMs=${part.timeMs} />`;
  if ('person' in part) return html`<bdi class="person">${shownText(part.person.name)}</bdi>`;
  if ('mention' in part) return html`<bdi class="mention">@${shownText(part.mention.name)}</bdi>`;
  if ('channel' in part)
    return html`<${Jump} to=${{ channel: part.channel, message: null }} label=${`#${part.channel}`} onJump=${onJump} />`;
  if ('message' in part) return html`<${Jump} to=${part.message} label=${part.label} onJump=${onJump} />`;
  return html`<a href=${safe(part.link)} target="_blank" rel="noreferrer">${part.label}</a>`;
}

/** Code of this many characters stays on one line: `--seconds 6` is read as one. */
const UNBROKEN_CODE = 32;

function Code({ text }) {
  return html`<code class=${text.length <= UNBROKEN_CODE ? 'unbroken' : ''}>${text}</code>`;
}

/** Control characters, and those that turn the direction of what follows: they say nothing and hide something. */
const UNSEEN = /(?![\t\n])[\p{Cc}\p{Bidi_Control}]/gu;

function shownText(text) {
  return text.replace(UNSEEN, '');
}

function Jump({ to, label, onJump }) {
  return html`<button type="button" class="plain-link" onClick=${() => onJump(to)}>${label}</button>`;
}

/** The words tell the elapsed time of when they were made; while the task moves, it goes on from there. */
function ticking(words, clip) {
  if (clip === null || clip.endedAtMs !== null || !MOVING.includes(clip.phase)) return words;
  const then = elapsed(clip.wordedAtMs - clip.startedAtMs);
  const at = words.indexOf(then);
  if (at < 0) return words;
  const now = elapsed(Math.max(Date.now(), clip.wordedAtMs) - clip.startedAtMs);
  return [words.slice(0, at), html`<span class="ticking">${now}</span>`, words.slice(at + then.length)];
}

/** Addresses are the bot's own; anything but a web address is none. */
function safe(link) {
  return /^https?:\/\//.test(link) ? link : undefined;
}
