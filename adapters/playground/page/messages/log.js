import { html } from 'htm/preact';
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';
import { DownIcon } from '../icons.js';
import { Initials } from '../people.js';
import { Message } from './message.js';
import { rowsOf } from './rows.js';

/** Controls of a message; only those of the current message are tab stops. */
const CONTROLS = 'article button, article a, article input, article select, article summary';

/**
 * The messages of a channel. Stays scrolled to the end if it was there; else keeps the scroll position.
 * @param {object} props `jumpTo`: `{ id, isAnswer }`, a message to scroll to; unless it is the response to the user's
 *   own press (`isAnswer`), it is focused as well
 */
export function Log({ board, jumpTo, outbox, empty, messageProps, onLeave }) {
  const log = useRef(null);
  const [current, setCurrent] = useState(null);
  const { messages, isLoaded, hasEarlier, hasLater } = board;
  const end = useEnd(log, board, messages);
  const currentId = board.find(current) !== undefined ? current : messages.at(-1)?.id;
  const rows = rowsOf(messages, { readUpTo: board.readUpTo, user: messageProps.user });

  useKeptFocus(log, onLeave);
  useRovingTabIndex(log);
  useEffect(() => {
    if (end.isThere() && !document.hidden) board.markRead();
  });
  useJump(jumpTo, end);
  useLayoutEffect(() => {
    if (outbox.length === 0) return;
    end.hold();
  }, [outbox.length]);

  return html`
    <div class="log-frame">
      <div class="log" ref=${log} onScroll=${end.look} role="log" aria-live="off" aria-label="Messages" aria-busy=${!isLoaded}
        onKeyDown=${(event) => moveByKey(event, log.current, onLeave)} onFocusIn=${(event) => setCurrent(event.target.closest('article')?.id ?? current)}>
        <div class="log-content">
          ${
            hasEarlier &&
            html`<button type="button" class="plain-link earlier" onClick=${() => {
              end.leave();
              void board.readEarlier();
            }}>Show earlier messages</button>`
          }
          ${!isLoaded && html`<${Skeleton} />`}
          ${isLoaded && messages.length === 0 && outbox.length === 0 && empty}
          ${rows.map((row) => html`<${Row} key=${keyOf(row)} row=${row} board=${board} currentId=${currentId} messageProps=${messageProps} />`)}
          ${
            hasLater &&
            html`<button type="button" class="plain-link earlier" onClick=${() => {
              end.leave();
              void board.readLater();
            }}>Show later messages</button>`
          }
          ${outbox.map((entry) => html`<${Pending} key=${entry.id} entry=${entry} onAgain=${entry.again} onDiscard=${entry.discard} />`)}
        </div>
      </div>
      <${Pill} count=${end.unseen} hasLater=${hasLater} onPress=${async () => {
        await board.showEnd();
        end.hold();
        onLeave();
      }} />
    </div>
  `;
}

/** Sent message in flight or failed. */
function Pending({ entry, onAgain, onDiscard }) {
  const hasFailed = entry.error !== '';
  return html`
    <div class=${`message pending ${hasFailed ? 'failed' : ''}`}>
      <span class="avatar"><${Initials} name=${entry.user} /></span>
      <div class="body">
        <header class="small"><b class="author" dir="auto">${entry.user}</b></header>
        <p class="pending-text" dir="auto">${entry.text}</p>
        ${
          hasFailed
            ? html`
          <p class="trouble" role="alert">${entry.error}</p>
          <div class="buttons">
            <button type="button" class="button plain" onClick=${onAgain}>Try again</button>
            <button type="button" class="button plain" onClick=${onDiscard}>Discard</button>
          </div>
        `
            : html`<p class="small">Sending…</p>`
        }
      </div>
    </div>
  `;
}

/** Moves between messages with the arrow keys; Escape leads from a control to its message, and from there out. */
function moveByKey(event, log, onLeave) {
  const article = event.target.closest('article');
  if (article === null) return;
  if (event.key === 'Escape') {
    if (event.target === article) onLeave();
    else article.focus();
    return;
  }
  const next = event.target === article ? neighbour(log, article, event.key) : undefined;
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
  next.scrollIntoView({ block: 'nearest' });
}

function keyOf(row) {
  if (row.kind === 'message') return row.message.id;
  return row.kind === 'day' ? `day-${row.timeMs}` : 'new';
}

function Row({ row, board, currentId, messageProps }) {
  if (row.kind === 'day') return html`<div class="divider"><span>${dayName(row.timeMs)}</span></div>`;
  if (row.kind === 'new') return html`<div class="divider new"><span>New</span></div>`;
  const { message, isCompact } = row;
  return html`
    <${Message} message=${message} isCompact=${isCompact} currentId=${currentId} find=${(id) => board.find(id)}
      thread=${board.threadOf(message.id)} readUpTo=${board.readUpTo} ...${messageProps} />
  `;
}

const day = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long' });

/** Returns `Today`, `Yesterday`, or the date. */
function dayName(timeMs) {
  const daysAgo = [0, 1].find((days) => {
    const then = new Date();
    then.setDate(then.getDate() - days);
    return then.toDateString() === new Date(timeMs).toDateString();
  });
  return daysAgo === undefined ? day.format(timeMs) : ['Today', 'Yesterday'][daysAgo];
}

/** Button that jumps to the end, shown while there are newer messages below. */
function Pill({ count, hasLater, onPress }) {
  if (count === 0 && !hasLater) return null;
  const words = count === 0 ? 'Jump to the latest' : `${count} new ${count === 1 ? 'message' : 'messages'}`;
  return html`<button type="button" class="pill" onClick=${onPress}><${DownIcon} />${words}</button>`;
}

/** Placeholder while messages load. */
function Skeleton() {
  return html`
    <div class="skeleton" aria-hidden="true">
      ${[0, 1, 2].map((index) => html`<div key=${index}><i></i><span><b></b><b></b></span></div>`)}
    </div>
  `;
}

function neighbour(log, article, key) {
  // Those of a closed thread cannot have the focus.
  const articles = [...log.querySelectorAll('article')].filter((one) => one.checkVisibility());
  const at = articles.indexOf(article);
  return { ArrowUp: articles[at - 1], ArrowDown: articles[at + 1], Home: articles[0], End: articles.at(-1) }[key];
}

/** Limits the tab order to the controls of the current message (roving tabindex). */
function useRovingTabIndex(log) {
  useLayoutEffect(() => {
    for (const control of log.current.querySelectorAll(CONTROLS)) {
      const isStop = control.closest('article').dataset.current === 'true' && control.dataset.roving !== 'true';
      control.tabIndex = isStop ? 0 : -1;
    }
  });
}

/** Moves the focus to the nearest message when the focused control or its message is removed. */
function useKeptFocus(log, onLeave) {
  const focused = log.current?.contains(document.activeElement) ? document.activeElement.closest('article') : null;
  const nextToIt = focused === null ? null : (siblingArticle(focused) ?? null);
  useLayoutEffect(() => {
    if (focused === null || document.activeElement !== document.body) return;
    if (focused.isConnected) focused.focus({ preventScroll: true });
    else if (nextToIt?.isConnected) nextToIt.focus({ preventScroll: true });
    else onLeave();
  });
}

function siblingArticle(article) {
  const articles = [...article.parentElement.querySelectorAll('article')];
  const at = articles.indexOf(article);
  return articles[at + 1] ?? articles[at - 1];
}

/** Scrolls to a message as soon as it is rendered. */
function useJump(jumpTo, end) {
  const done = useRef(null);
  useEffect(() => {
    if (jumpTo === null || done.current === jumpTo) return;
    const target = document.getElementById(jumpTo.id);
    if (target === null) return;
    done.current = jumpTo;
    target.closest('details.thread')?.setAttribute('open', '');
    if (jumpTo.isAnswer) {
      target.scrollIntoView({ block: 'nearest' });
      end.look();
    } else {
      end.leave();
      target.scrollIntoView({ block: 'center' });
      target.focus({ preventScroll: true });
    }
    target.classList.remove('found');
    requestAnimationFrame(() => target.classList.add('found'));
  });
}

/**
 * Keeps a scroll container at its end while the user is there and its content grows.
 * @param {{ current: any }} box the container; its first child is the content
 * @param {object} board a different one starts at its end
 * @param {readonly any[]} messages messages in the container
 */
function useEnd(box, board, messages) {
  const state = useRef({ isThere: true, top: 0, seen: null }).current;
  const [, draw] = useReducer((count) => count + 1, 0);
  const distance = () => box.current.scrollHeight - box.current.scrollTop - box.current.clientHeight;
  const setThere = (isThere) => {
    if (state.isThere === isThere) return;
    state.isThere = isThere;
    draw();
  };
  // Only scrolling up leaves the end; a resize of the container or its content does not.
  const look = () => {
    const { scrollTop } = box.current;
    if (distance() < 40) setThere(true);
    else if (scrollTop < state.top - 2) setThere(false);
    state.top = scrollTop;
  };
  const stick = () => {
    // The user may have scrolled up in this frame, before its scroll event.
    if (box.current.scrollTop < state.top - 2) look();
    if (state.isThere) box.current.scrollTop = box.current.scrollHeight;
    state.top = box.current.scrollTop;
  };
  useLayoutEffect(() => {
    const watcher = new ResizeObserver(stick);
    watcher.observe(box.current);
    watcher.observe(box.current.firstElementChild);
    return () => watcher.disconnect();
  }, []);
  useLayoutEffect(() => {
    state.isThere = true;
    state.seen = null;
  }, [board]);
  const newest = messages.at(-1)?.order ?? 0;
  const isOther = state.seen !== newest;
  if (state.seen === null) state.seen = newest;
  useLayoutEffect(() => {
    // Not where a press only moves the focus: its button would move away before the pointer is lifted.
    if (isOther) stick();
    // After the layout, so that messages count as seen only if the user is at the end.
    if (state.isThere) state.seen = newest;
  });
  const leave = () => setThere(false);
  const hold = () => {
    setThere(true);
    stick();
  };
  const unseen = state.isThere ? 0 : messages.filter(({ order }) => order > state.seen).length;
  return { look, leave, hold, isThere: () => state.isThere, unseen };
}
