import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { html } from './html.js';
import { Message } from './message.js';

/** The messages of a channel. Stays at the end if it was there; else what is being read stays where it is. */
export function Log({ board, jumpTo, empty, messageProps }) {
  const log = useRef(null);
  const { messages, isLoaded, hasEarlier } = board;
  const end = useEnd(log, board);

  useEffect(() => {
    const target = jumpTo === null ? null : document.getElementById(jumpTo.id);
    if (target === null || target === undefined) return;
    end.leave();
    target.scrollIntoView({ block: 'center' });
    target.focus({ preventScroll: true });
    target.classList.remove('found');
    requestAnimationFrame(() => target.classList.add('found'));
  }, [jumpTo, isLoaded]);

  return html`
    <div class="log" ref=${log} onScroll=${end.look} tabindex="0" role="log" aria-live="off" aria-label="Messages">
      <div class="log-content">
        ${
          hasEarlier &&
          html`<button type="button" class="plain-link earlier" onClick=${() => {
            end.leave();
            void board.readEarlier();
          }}>Show earlier messages</button>`
        }
        ${isLoaded && messages.length === 0 && empty}
        ${messages.map((message) => html`<${Message} key=${message.id} message=${message} original=${board.find(message.replyTo)} ...${messageProps} />`)}
      </div>
    </div>
  `;
}

/**
 * Keeps a box at its end as long as the reader is there, whatever grows in it.
 * @param {{ current: any }} box scrolls; its first child is what grows
 * @param {object} board another one begins at its end
 */
function useEnd(box, board) {
  const state = useRef({ isThere: true, top: 0 }).current;
  const distance = () => box.current.scrollHeight - box.current.scrollTop - box.current.clientHeight;
  const look = () => {
    state.isThere = distance() < 40;
  };
  const stick = () => {
    // The reader may have scrolled up in this very frame, and the event of it be still to come.
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
  }, [board]);
  useLayoutEffect(stick);
  const leave = () => {
    state.isThere = false;
  };
  return { look, leave };
}
