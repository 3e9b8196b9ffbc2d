import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { newId } from '#src/http/shared-page/new-id.js';
import { FIRST_PICTURE } from '#src/http/shared-page/player.js';
import { Timeline } from '#src/http/shared-page/timeline.js';
import { act } from '../api.js';
import { Emoji, EyeIcon, ReplyIcon } from '../icons.js';
import { Initials, MANAGER } from '../people.js';
import { elapsed, Time, useSeconds } from '../time.js';
import { Blocks, Buttons, Selects } from './card.js';
import { Media } from './media.js';
import { isPending } from './phases.js';
import { requesterOf } from './rows.js';
import { spoken } from './spoken.js';

const REACTIONS = [
  { emoji: '🔁', meaning: 'Retry' },
  { emoji: '❌', meaning: 'Cancel' },
];

/** Characters of a message in its accessible name. */
const NAME_LENGTH = 120;

/**
 * One message: its request, text, clip, buttons and reactions, and of a storyboard its cut and thread. Its controls are tab
 * stops only while it is the current one, so that a channel is one tab stop, not hundreds.
 * @param {object} props `find`: returns a message by its id; `thread`: messages in its thread
 */
export function Message({ message, isCompact, thread = [], ...shared }) {
  const { currentId, find, user, onJump, onForm, onAnswer, onTrouble } = shared;
  const [busy, setBusy] = useState(null);
  const original = find(message.replyTo);
  const isCurrent = message.id === currentId;
  const isPrivate = message.visibleTo !== null;

  const send = async (what, body) => {
    if (busy !== null) return;
    setBusy(Object.values(body)[0]);
    const answer = await act(what, { id: newId(), user, message: message.id, ...body });
    setBusy(null);
    if (answer.form !== null) return onForm({ ...atPlayer(answer.form), message: message.id, from: message });
    // The bot posts a refusal in the channel; only a request without a response is reported here.
    if (answer.offline) return onTrouble(answer.error);
    if (what === 'presses' && answer.ok) onAnswer(answer.message, message);
  };
  const press = (button) => send('presses', { button });

  const classes = [
    'message',
    message.mentions.includes(user) && 'mentions-me',
    isPrivate && 'private',
    isCompact && 'compact',
    message.clip !== null && 'of-task',
  ];
  return html`
    <article class=${classes.filter(Boolean).join(' ')} id=${message.id} tabindex=${isCurrent ? 0 : -1} aria-label=${nameOf(message)}
      data-current=${isCurrent}>
      ${hasReplyLine(message, isCompact) && html`<${ReplyLine} message=${message} original=${original} onJump=${onJump} />`}
      ${!isCompact && html`<${Request} message=${message} />`}
      <span class="avatar">${!isCompact && html`<img src="/playground/page/icon.svg" alt="" width="36" height="36" />`}</span>
      <div class="body">
        ${
          !isCompact &&
          html`
          <header class="small">
            <b class="author">${message.author}</b><span class="badge">bot</span>
            <${Stamp} timeMs=${message.createdAtMs} />
          </header>
        `
        }
        <${Content} message=${message} busy=${busy} onJump=${(to) => jumpFrom(message, original, to, onJump)} onPress=${press}>
          ${message.board !== null && html`<${BoardTimeline} message=${message} find=${find} user=${user} />`}
        <//>
        <${Media} message=${message} />
        <${Selects} selects=${message.card.selects} busy=${busy} onPress=${press} />
        <${Buttons} buttons=${message.card.buttons} busy=${busy} onPress=${press} />
        <${Reactions} message=${message} user=${user} onReact=${(emoji) => send('reactions', { emoji })} />
        ${thread.length > 0 && html`<${Thread} messages=${thread} ...${shared} />`}
        ${isPrivate && html`<${OnlyYou} onDismiss=${() => act('dismissals', { user, message: message.id })} />`}
      </div>
      ${message.clip !== null && html`<${Toolbar} busy=${busy} onReact=${(emoji) => send('reactions', { emoji })} />`}
    </article>
  `;
}

function OnlyYou({ onDismiss }) {
  return html`
    <footer class="only-you small"><${EyeIcon} /> Only you can see this ·${' '}
      <button type="button" class="plain-link" onClick=${onDismiss}>Dismiss</button>
    </footer>
  `;
}

/** Returns whether a message names the one that it replies to, which is neither right above it nor the card of its thread. */
function hasReplyLine({ replyTo, thread }, isCompact) {
  return replyTo !== null && (thread === null ? !isCompact : replyTo !== thread.card);
}

/** The cut of a storyboard, whose shots its requester and the manager may move. */
function BoardTimeline({ message: { board, channel }, find, user }) {
  const { set, by, cut, revision, shots } = board;
  const file = cut?.state === 'current' ? find(cut.message)?.attachments.at(0) : undefined;
  const onMove = async (move) => {
    const button = `move:${set}:${move.revision}:${move.shot}:${move.before}`;
    // Without the message, the answer is not posted.
    const { ok, error } = await act('presses', { id: newId(), user, channel, button });
    return ok ? null : error;
  };
  const shown = shots.map(({ task, prompt, ...shot }) => ({ ...shot, id: task, words: prompt || 'removed' }));
  return html`
    <${Timeline} shots=${shown} revision=${revision} cut=${file?.url ?? null} onMove=${user === by || user === MANAGER ? onMove : null} />
  `;
}

/** Messages below the card of a storyboard; open where one of them needs a decision. */
function Thread({ messages, readUpTo, ...shared }) {
  const isUndecided = messages.some(({ clip }) => clip?.phase === 'uncertain');
  const [isOpen, setOpen] = useState(isUndecided);
  useEffect(() => {
    if (isUndecided) setOpen(true);
  }, [isUndecided]);
  const unread =
    readUpTo === null ? [] : messages.filter((one) => one.order > readUpTo && requesterOf(one) !== shared.user);
  return html`
    <details class="thread" open=${isOpen} onToggle=${({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary><b>${counted(messages.length, 'message')}</b><span class="small">: ${kindsOf(messages)}</span>
        ${unread.length > 0 && html` <span class="thread-label">${unread.length} new</span>`}
        ${isUndecided && html` <span class="thread-label">Needs a decision</span>`}
      </summary>
      <div class="thread-messages">
        ${messages.map((message) => html`<${Message} key=${message.id} message=${message} isCompact ...${shared} />`)}
      </div>
    </details>
  `;
}

/** Says what the messages of a thread are: `6 shots, 1 take, 2 notes, 1 cut`. */
function kindsOf(messages) {
  const counts = Map.groupBy(messages, ({ thread }) => thread.kind);
  const kinds = ['shot', 'take', 'note', 'cut'].filter((kind) => counts.has(kind));
  return kinds.map((kind) => counted(counts.get(kind).length, kind)).join(', ');
}

function counted(number, one) {
  return `${number} ${one}${number === 1 ? '' : 's'}`;
}

const playerOf = (task) => document.querySelector(`[data-task="${CSS.escape(task)}"] video`);

/** Fills the time of a form about a clip, whose id has that of the task, from its player, where that is stopped in the middle. */
function atPlayer(form) {
  const player = playerOf(form.id.split(':')[1] ?? '');
  if (player === null || player.ended || player.currentTime <= FIRST_PICTURE) return form;
  const at = elapsed(player.currentTime * 1000);
  return { ...form, fields: form.fields.map((field) => (field.name === 'at' ? { ...field, value: at } : field)) };
}

/** Jumps to a message or channel, or to a time in the clip that a message shows, is about or replies to. */
function jumpFrom({ task, about, attachments, replyTo, replyChannel }, original, to, onJump) {
  if (to.atSeconds === undefined) return onJump(to);
  if (attachments.length === 0) onJump({ channel: replyChannel, message: replyTo });
  const player = playerOf(task ?? about ?? original?.task ?? '');
  player?.pause();
  if (player !== null) player.currentTime = to.atSeconds;
}

const timeOfDay = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });

/** Time of day of a message; the day is in the divider above. */
function Stamp({ timeMs }) {
  return html`<${Time} timeMs=${timeMs} words=${timeOfDay.format(timeMs)} />`;
}

/** Returns the accessible name of a message: its author, its requester and its beginning. */
function nameOf(message) {
  const whose = requesterOf(message);
  const words = spoken(message.card);
  const beginning = words.length > NAME_LENGTH ? `${words.slice(0, NAME_LENGTH)}…` : words;
  return `${message.author}${whose === undefined ? '' : ` to ${whose}`}: ${beginning}`;
}

/** Toolbar of the reactions with a meaning; one tab stop, with arrow keys inside. */
function Toolbar({ busy, onReact }) {
  const bar = useRef(null);
  const onKeyDown = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const buttons = [...bar.current.querySelectorAll('button')];
    const next = buttons[(buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length];
    event.preventDefault();
    next.focus();
  };
  return html`
    <div class="toolbar" role="toolbar" aria-label="React" ref=${bar} onKeyDown=${onKeyDown}>
      ${REACTIONS.map(
        ({ emoji, meaning }, index) => html`
        <button type="button" key=${emoji} title=${`${meaning} (${emoji})`} aria-label=${`${meaning} by reaction`} data-roving=${index > 0}
          aria-disabled=${busy !== null} onClick=${() => onReact(emoji)}><${Emoji} emoji=${emoji} /></button>
      `,
      )}
    </div>
  `;
}

function Content({ message: { card, clip }, ...more }) {
  useSeconds(isPending(clip));
  return html`<${Blocks} card=${card} clip=${clip} ...${more} />`;
}

/** Line above a response with its requester and command. */
function Request({ message }) {
  const whose = requesterOf(message);
  if (whose === undefined) return null;
  return html`
    <p class="request small"><${Initials} name=${whose} /><b dir="auto">${whose}</b> ${' '}<span class="truncated">${howAsked(message)}</span></p>
  `;
}

function commandOf({ isShot, isCompared }) {
  if (isShot) return 'storyboard';
  return isCompared ? 'compare' : 'create';
}

function howAsked({ clip, asked }) {
  if (clip !== null)
    return html`used <code class="unbroken">${clip.isRetry ? 'Retry' : `/video ${commandOf(clip)}`}</code>`;
  const what = html`<code class="unbroken">${asked.what}</code>`;
  if (asked.how === 'reaction') return html`reacted with ${what}`;
  if (asked.what.startsWith('/')) return html`used ${what}`;
  return asked.how === 'interaction' ? html`wrote “${asked.what}”` : html`pressed ${what}`;
}

function ReplyLine({ message, original, onJump }) {
  const target = { channel: message.replyChannel, message: message.replyTo };
  const words = original?.clip?.prompt ?? original?.text.split('\n')[0] ?? `a message in #${message.replyChannel}`;
  return html`
    <button type="button" class="reply-line small" onClick=${() => onJump(target)}>
      <${ReplyIcon} /><span class="truncated" dir="auto"><span class="sr">In reply to </span>${words}</span>
    </button>
  `;
}

function Reactions({ message, user, onReact }) {
  const entries = Object.entries(message.reactions);
  if (entries.length === 0) return null;
  return html`
    <div class="reactions">
      ${entries.map(
        ([emoji, users]) => html`
        <button type="button" key=${emoji} class="reaction" aria-pressed=${users.includes(user)} title=${users.join(', ')}
          onClick=${() => onReact(emoji)}>
          <${Emoji} emoji=${emoji} /><span class="sr">${emoji}</span><span class="count">${users.length}</span><span class="sr"> by ${users.join(', ')}</span>
        </button>
      `,
      )}
    </div>
  `;
}
