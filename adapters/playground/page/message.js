import { useState } from 'preact/hooks';
import { act, newId } from './api.js';
import { Line } from './card.js';
import { html } from './html.js';
import { CloseIcon, Emoji, EyeIcon, ReplyIcon } from './icons.js';
import { Media } from './media.js';
import { Initials } from './people.js';
import { Moment, useSeconds } from './time.js';

const REACTIONS = [
  { emoji: '🔁', meaning: 'Retry' },
  { emoji: '❌', meaning: 'Cancel' },
];

/** Phases in which time still runs. */
const MOVING = ['queued', 'running', 'fetching'];

/** One message: whom it answers, what it says, its clip, its buttons and reactions. */
export function Message({ message, original, user, onJump, onForm, onTrouble }) {
  const [busy, setBusy] = useState(null);
  const isMine = message.mentions.includes(user);
  const isPrivate = message.visibleTo !== null;

  const send = async (what, body) => {
    setBusy(Object.values(body)[0]);
    const answer = await act(what, { id: newId(), user, message: message.id, ...body });
    setBusy(null);
    if (answer.form !== null) onForm({ ...answer.form, message: message.id });
    // A refusal is said in the channel; here only what did not get so far.
    if (answer.offline) onTrouble(answer.error);
  };

  const classes = ['message', isMine && 'mentions-me', isPrivate && 'private', message.clip !== null && 'of-task'];
  return html`
    <article class=${classes.filter(Boolean).join(' ')} id=${message.id} tabindex="-1">
      ${message.replyTo !== null && html`<${ReplyLine} message=${message} original=${original} onJump=${onJump} />`}
      <${Avatar} message=${message} />
      <div class="body">
        <header>
          <b class="author">${message.author}</b><span class="badge">bot</span>
          <${Moment} timeMs=${message.createdAtMs} />
          ${message.asked !== null && html`<span class="asked"><b>${message.asked.user}</b> ${' '}<span>${message.asked.what}</span></span>`}
        </header>
        <${Says} message=${message} onJump=${onJump} />
        <${Media} message=${message} />
        ${
          message.buttons.length > 0 &&
          html`
          <div class="buttons">
            ${message.buttons.map(
              ({ id, label, style }) => html`
              <button type="button" key=${id} class=${`button ${style}`} aria-busy=${busy === id} disabled=${busy !== null}
                onClick=${() => send('presses', { button: id })}>${label}</button>
            `,
            )}
          </div>
        `
        }
        <${Reactions} message=${message} user=${user} onReact=${(emoji) => send('reactions', { emoji })} />
        ${
          isPrivate &&
          html`
          <footer class="only-you"><${EyeIcon} /> Only you can see this ·${' '}
            <button type="button" class="plain-link" onClick=${() => act('dismissals', { user, message: message.id })}>Dismiss</button>
          </footer>
        `
        }
      </div>
      ${
        !isPrivate &&
        html`
        <div class="toolbar" role="toolbar" aria-label="React">
          ${REACTIONS.map(
            ({ emoji, meaning }) => html`
            <button type="button" key=${emoji} title=${meaning} aria-label=${`React with ${meaning}`} disabled=${busy !== null}
              onClick=${() => send('reactions', { emoji })}><${Emoji} emoji=${emoji} /></button>
          `,
          )}
        </div>
      `
      }
    </article>
  `;
}

function Says({ message: { card, clip }, onJump }) {
  useSeconds(clip !== null && MOVING.includes(clip.phase));
  const [first, ...rest] = card.lines;
  return html`
    <div class="card">
      ${first !== undefined && html`<p class=${clip === null ? '' : 'headline'}><${Line} line=${first} onJump=${onJump} /></p>`}
      ${rest.map((line, index) => html`<p key=${index} class=${clip === null ? '' : 'status'}><${Line} line=${line} clip=${clip} onJump=${onJump} /></p>`)}
    </div>
  `;
}

/** The bot's sign, and in its corner whose wish it was. */
function Avatar({ message: { clip, asked } }) {
  const whose = clip?.by ?? asked?.user;
  return html`
    <span class="avatar">
      <img src="/playground/page/icon.svg" alt="" />
      ${whose !== undefined && html`<span class="whose" title=${`for ${whose}`}><${Initials} name=${whose} /></span>`}
    </span>
  `;
}

function ReplyLine({ message, original, onJump }) {
  const target = { channel: message.replyChannel, message: message.replyTo };
  const words = original === undefined ? `a message in #${message.replyChannel}` : original.text.split('\n')[0];
  return html`
    <button type="button" class="reply-line" onClick=${() => onJump(target)}>
      <${ReplyIcon} /><span class="reply-words"><span class="sr">In reply to </span>${words}</span>
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
          aria-label=${`${emoji} by ${users.join(', ')}`} onClick=${() => onReact(emoji)}>
          <${Emoji} emoji=${emoji} /><span class="count">${users.length}</span>
        </button>
      `,
      )}
    </div>
  `;
}

/** Something that went wrong on the way, said over the page for as long as it is wanted. */
export function Trouble({ sentence, onClose }) {
  if (sentence === '') return null;
  return html`
    <div class="toast" role="alert"><span>${sentence}</span>
      <button type="button" aria-label="Close" onClick=${onClose}><${CloseIcon} /></button>
    </div>
  `;
}
