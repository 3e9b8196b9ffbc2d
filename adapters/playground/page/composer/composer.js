import { html } from 'htm/preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { read } from '../api.js';
import { SendIcon } from '../icons.js';
import { keep, recall } from '../storage.js';
import { complete, offered } from './completion.js';

const HISTORY_KEY = 'dailies.history';
const HISTORY_LENGTH = 50;
const SUGGEST_DEBOUNCE_MS = 120;

/**
 * Message box that completes subcommands, options and values as a chat client does. Keeps an unsent draft per channel,
 * also across a reload.
 * @param {object} props `draft`: a text to insert once, `{ text, user, channel, isRefused, instead }`; a refused one only
 *   into an empty box, one `instead` of a text only in its place
 */
// oxlint-disable-next-line max-lines-per-function -- one component: its handlers share the state of the text box
export function Composer({
  user,
  channel,
  commands,
  models,
  known,
  draft,
  trouble,
  boxRef,
  onSend,
  onWrite,
  onDraftTaken,
}) {
  const draftKey = `dailies.draft.${user}.${channel}`;
  const [text, setText] = useState(() => recall(draftKey, ''));
  const [caret, setCaret] = useState(text.length);
  const [isClosed, setClosed] = useState(text !== '');
  const [chosen, setChosen] = useState(null);
  const box = boxRef;
  const caretTo = useRef(null);
  const history = useHistory();
  const completion = useCompletion({ text, caret, commands, models, known, user, channel });
  const offers = isClosed ? [] : completion.offers;
  const selected = chosen ?? 0;

  const put = (next, at = next.length) => {
    setText(next);
    setCaret(at);
    setClosed(false);
    setChosen(null);
    caretTo.current = at;
  };
  const write = (next, at) => {
    put(next, at);
    onWrite();
  };

  useEffect(() => keep(draftKey, text === '' ? null : text), [text]);
  useEffect(() => {
    // Not on touch screens, whose keyboard would cover the page.
    if (matchMedia('(hover: hover) and (pointer: fine)').matches) box.current?.focus();
  }, []);
  useEffect(() => {
    if (draft === null || draft.channel !== channel || draft.user !== user) return;
    onDraftTaken();
    if (text !== (draft.instead ?? (draft.isRefused ? '' : text))) return;
    put(draft.text);
    setClosed(draft.isRefused);
    box.current?.focus();
  }, [draft]);

  useLayoutEffect(() => {
    const area = box.current;
    area.style.height = 'auto';
    area.style.height = `${Math.min(area.scrollHeight, 200)}px`;
    // Synchronously: by the next frame another key may have been pressed.
    if (caretTo.current !== null) area.setSelectionRange(caretTo.current, caretTo.current);
    caretTo.current = null;
  }, [text]);

  const accept = (offer) => {
    const after = text.slice(completion.to);
    write(text.slice(0, completion.from) + offer.insert + after.trimStart(), completion.from + offer.insert.length);
    box.current?.focus();
  };

  const send = () => {
    if (text.trim() === '') return;
    history.add(text);
    write('');
    box.current?.focus();
    onSend(text);
  };

  const browse = (event, step) => {
    const entry = history.step(step, text);
    if (entry === null) return;
    event.preventDefault();
    write(entry);
    setClosed(true);
  };

  const onKeyDown = (event) => {
    if (event.isComposing) return;
    const { key } = event;
    const move = { ArrowDown: 1, ArrowUp: -1 }[key] ?? 0;
    if (offers.length > 0 && move !== 0) {
      event.preventDefault();
      setChosen(
        chosen === null && move > 0 && !completion.isEager ? 0 : (selected + move + offers.length) % offers.length,
      );
    } else if (offers.length > 0 && key === 'Tab' && !event.shiftKey) {
      event.preventDefault();
      accept(offers[selected]);
    } else if (offers.length > 0 && key === 'Escape') {
      event.preventDefault();
      setClosed(true);
    } else if (key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      if (offers.length > 0 && (completion.isEager || chosen !== null)) accept(offers[selected]);
      else send();
    } else if (move !== 0 && (text === '' || history.isBrowsing(text))) {
      browse(event, -move);
    }
  };

  const isActive = offers.length > 0;
  return html`
    <form class="composer" onSubmit=${(event) => {
      event.preventDefault();
      send();
    }}>
      ${isActive && html`<${Offers} offers=${offers} selected=${completion.isEager || chosen !== null ? selected : -1} onPick=${accept} />`}
      ${!isClosed && html`<${Hint} completion=${completion} onOption=${(option) => write(`${text.trimEnd()} --${option.name} `)} />`}
      <p class="trouble" role="alert">${trouble}</p>
      <div class="box ${trouble === '' ? '' : 'wrong'}">
        <textarea ref=${box} rows="1" value=${text} autocomplete="off" autocapitalize="off" spellcheck="true"
          aria-label="Message #${channel}" placeholder="Type / for commands" enterkeyhint="send" maxlength="20000"
          dir="auto" aria-haspopup="listbox" aria-controls=${isActive ? 'offers' : undefined} aria-autocomplete="list"
          aria-activedescendant=${isActive && (completion.isEager || chosen !== null) ? `offer-${selected}` : undefined}
          onInput=${(event) => {
            setText(event.target.value);
            setCaret(event.target.selectionStart);
            setClosed(false);
            setChosen(null);
            onWrite();
          }}
          onSelect=${(event) => setCaret(event.target.selectionStart)}
          onKeyDown=${onKeyDown}></textarea>
        <button type="submit" class="send" aria-label="Send" aria-disabled=${text.trim() === ''}><${SendIcon} /></button>
      </div>
    </form>
  `;
}

function Offers({ offers, selected, onPick }) {
  const list = useRef(null);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [selected, offers]);
  return html`
    <ul class="offers" id="offers" role="listbox" aria-label="Suggestions" ref=${list}>
      ${offers.map(
        (offer, index) => html`
        <li key=${offer.insert} id=${`offer-${index}`} role="option" aria-selected=${index === selected}
          onMouseDown=${(event) => {
            event.preventDefault();
            onPick(offer);
          }}>
          <span class="offer-label">${offer.label}</span>
          <span class="offer-detail">${offer.detail}</span>
        </li>
      `,
      )}
    </ul>
  `;
}

/** Hint for the current input, and the options that may still be added. */
function Hint({ completion: { hint, options }, onOption }) {
  if (hint === null && options.length === 0) return null;
  return html`
    <div class="hint small">
      ${hint !== null && html`<span class="truncated" title=${`${hint.title} ${hint.text}`}><b>${hint.title}</b> ${hint.text}</span>`}
      <span class="chips">
        ${options.map(
          (option) => html`
          <button type="button" class="chip" key=${option.name} title=${option.description} tabindex="-1"
            onMouseDown=${(event) => event.preventDefault()} onClick=${() => onOption(option)}>--${option.name}</button>
        `,
        )}
      </span>
    </div>
  `;
}

/** Returns the local offers at once, and those of the server after a debounce. */
function useCompletion({ text, caret, commands, models, known, user, channel }) {
  const local = useMemo(() => complete(text, caret, commands, known, models), [text, caret, commands, known, models]);
  const asked = local.question === null ? null : JSON.stringify(local.question);
  const [found, setFound] = useState({ asked: null, values: [] });
  useEffect(() => {
    if (asked === null) return undefined;
    let isStale = false;
    const { given, ...question } = JSON.parse(asked);
    const ask = async () => {
      const query = { ...question, given: JSON.stringify(given), user, channel };
      const values = await read('suggestions', query).catch(() => []);
      if (!isStale) setFound({ asked, values });
    };
    const timer = setTimeout(() => void ask(), SUGGEST_DEBOUNCE_MS);
    return () => {
      isStale = true;
      clearTimeout(timer);
    };
  }, [asked, user, channel]);
  if (asked === null || found.asked !== asked) return local;
  return { ...local, ...offered(found.values, local.question.typed, local.option) };
}

/** History of the commands sent from this browser, for the arrow keys. */
function useHistory() {
  const state = useRef(null);
  state.current ??= { entries: recall(HISTORY_KEY, []), at: null };
  const { current } = state;
  return {
    add(text) {
      current.entries = [...current.entries.filter((entry) => entry !== text), text].slice(-HISTORY_LENGTH);
      current.at = null;
      keep(HISTORY_KEY, current.entries);
    },
    isBrowsing: (text) => current.at !== null && current.entries[current.at] === text,
    /** Returns the entry `step` steps back, '' after the newest, `null` where there is none. */
    step(step, text) {
      const from = this.isBrowsing(text) ? current.at : current.entries.length;
      const at = from - step;
      if (at < 0 || (at >= current.entries.length && text === '')) return null;
      current.at = at;
      return current.entries[at] ?? '';
    },
  };
}
