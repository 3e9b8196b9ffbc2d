import { html, render } from 'htm/preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useFragment, useListener, useLoaded } from '#src/http/shared-page/events.js';
import { act, read } from './api.js';
import { useBoard } from './board.js';
import { Composer } from './composer/composer.js';
import { useOutbox } from './composer/outbox.js';
import { FormDialog } from './form.js';
import { CloseIcon } from './icons.js';
import { Log } from './messages/log.js';
import { requesterOf } from './messages/rows.js';
import { spoken } from './messages/spoken.js';
import { MANAGER } from './people.js';
import { Settings } from './settings.js';
import { Sidebar } from './sidebar.js';
import { keepUser, recallUser } from './storage.js';
import { Connect, Welcome } from './welcome.js';

const PEOPLE = ['ada', 'sam', MANAGER];
const NO_SETUP = { commands: [], models: [], isEmbeddedService: true };

function App() {
  const [user, setUser] = useState(() => recallUser() ?? PEOPLE[0]);
  const [channel, isSettings] = useFragment(placeIn);
  const [form, setForm] = useState(null);
  const [isConnecting, setConnecting] = useState(false);
  const [trouble, setTrouble] = useState('');
  const [box, settings] = [useRef(null), useRef(null)];
  const board = useBoard(user, channel);
  const reply = board.latest?.visibleTo === user ? board.latest.id : null;
  const setup = useSetup(board.connection, { user, channel }, reply);
  const { users, known } = useKnown(board, user);
  const [jumpTo, jump] = useJumps(board, channel, setTrouble);
  const orders = useOrders(board, { user, channel, onForm: setForm, onJump: jump });
  const about = { user, channel, models: setup.models, known };
  const title = isSettings ? 'Settings' : channel;
  const onGallery = async () => setTrouble((await openGallery(user, channel)) ?? '');
  const links = [
    { name: 'gallery', label: 'Gallery', open: onGallery },
    { name: 'settings', label: 'Settings', open: () => goTo(channel, SETTINGS), isCurrent: isSettings },
    { name: 'connect', label: 'Connect Discord or Slack', open: () => setConnecting(true) },
  ];

  useEffect(() => keepUser(user), [user]);
  // An error message of a lost connection is dismissed once it is back.
  useEffect(() => {
    if (board.connection === 'live') setTrouble('');
  }, [board.connection]);
  useTitle(isSettings ? title : `#${title}`, board.latest, user);
  useTypingAnywhere(box);

  return html`
    <div class="page">
      <button type="button" class="skip" onClick=${() => (box.current ?? settings.current)?.focus()}>${isSettings ? 'Skip to the settings' : 'Skip to the message box'}</button>
      <${Sidebar} channel=${channel} isSettings=${isSettings} channels=${board.channels} unread=${board.unread} user=${user} users=${users}
        links=${links} onChannel=${goTo} onUser=${setUser} />
      <main class="room">
        <h1 class="sr">${title}</h1>
        <header class="room-header" aria-hidden="true"><b>${!isSettings && html`<span class="hash">#</span>`}${title}</b></header>
        <${Banner} connection=${board.connection} isLoaded=${board.isLoaded} />
        ${
          isSettings
            ? html`<${Settings} key=${`${user}/${channel}`} isLive=${board.connection === 'live'} settingsRef=${settings} ...${about} onJump=${(to) => goTo(to.channel)} onTrouble=${setTrouble} />`
            : html`<${Channel} board=${board} setup=${setup} orders=${orders} boxRef=${box} jumpTo=${jumpTo} ...${about} onJump=${jump} onForm=${setForm} onUser=${setUser} onTrouble=${setTrouble} onConnect=${() => setConnecting(true)} />`
        }
      </main>
      <${Toast} sentence=${trouble} onClose=${() => setTrouble('')} />
      <div class="sr" role="status" aria-live="polite">${board.latest === null ? '' : spoken(board.latest.card)}</div>
      ${form !== null && html`<${FormDialog} key=${form.id} form=${form} ...${about} onForm=${setForm} onAnswer=${orders.onAnswer} onClose=${() => setForm(null)} />`}
      ${isConnecting && html`<${Connect} onClose=${() => setConnecting(false)} />`}
    </div>
  `;
}

/** The messages of a channel, and the box for new ones. */
function Channel({ board, setup, orders, boxRef, jumpTo, user, channel, models, known, onUser, onConnect, ...more }) {
  const toBox = () => boxRef.current?.focus();
  const send = (text) => {
    board.readUpTo = null;
    void board.showEnd();
    orders.outbox.send(user, channel, text);
  };
  const tryExample = (text) =>
    setup.isEmbeddedService ? send(text) : orders.setDraft({ text, user, channel, isRefused: false });
  const manage = (text) => {
    onUser(MANAGER);
    orders.setDraft({ text, user: MANAGER, channel, isRefused: false });
  };
  return html`
    <${Log} board=${board} jumpTo=${jumpTo} outbox=${orders.outbox.entries} onLeave=${toBox}
      empty=${html`<${Welcome} channel=${channel} isEmbeddedService=${setup.isEmbeddedService} onExample=${tryExample} onManage=${manage} onConnect=${onConnect} />`}
      messageProps=${{ ...more, user, onAnswer: orders.onAnswer }} />
    <${Composer} key=${`${user}/${channel}`} user=${user} channel=${channel} commands=${setup.commands} models=${models} known=${known} draft=${orders.draft}
      trouble=${isSaid(board.latest, orders.refusal) ? '' : orders.refusal} boxRef=${boxRef} onSend=${send} onWrite=${() => orders.setRefusal('')} onDraftTaken=${() => orders.setDraft(null)} />
  `;
}

/** Returns whether the channel shows the refusal already, so that the composer need not repeat it. */
function isSaid(latest, refusal) {
  return latest != null && latest.visibleTo !== null && latest.text.startsWith(refusal);
}

/** Opens the gallery of a user, redeeming its link by a POST of this page. Returns an error where it does not open. */
async function openGallery(user, channel) {
  const { ok, error, link } = await act('gallery', { user, channel });
  if (!ok) return error;
  if (new URL(link).origin !== location.origin) return location.assign(link);
  const body = new URLSearchParams({ key: new URL(link).searchParams.get('key') });
  const opened = await fetch('/gallery/open', { method: 'POST', body, redirect: 'manual' }).catch(() => null);
  if (opened?.type !== 'opaqueredirect') return 'The gallery didn’t open. Try again.';
  return location.assign('/gallery');
}

function Banner({ connection, isLoaded }) {
  if (connection !== 'lost') return null;
  const words = isLoaded
    ? 'Connection lost. Reconnecting… nothing you sent is lost.'
    : 'I can’t reach Dailies. I’ll keep trying.';
  return html`<div class="banner" role="status">${words}</div>`;
}

/** Error message over the page, shown until it is closed. */
function Toast({ sentence, onClose }) {
  if (sentence === '') return null;
  return html`
    <div class="toast" role="alert"><span>${sentence}</span>
      <button type="button" aria-label="Close" onClick=${onClose}><${CloseIcon} /></button>
    </div>
  `;
}

/** Returns the names in the user menu, and those that the composer completes. */
function useKnown({ messages, channels }, user) {
  const users = useMemo(() => peopleIn(messages, user), [messages.length, user]);
  const known = useMemo(() => ({ users: requestersOf(messages), channels }), [users, channels]);
  return { users, known };
}

/** Holds the messages being sent; one that is refused returns to the composer as a draft. */
function useOrders(board, { user, channel, onForm, onJump }) {
  const [refusal, setRefusal] = useState('');
  const [draft, setDraft] = useState(null);
  const refused = useRef('');
  const outbox = useOutbox(board, {
    onForm,
    onRefused: (entry, error) => {
      setRefusal(error);
      refused.current = entry.text;
      setDraft({ text: entry.text, user: entry.user, channel: entry.channel, isRefused: true });
    },
  });
  useEffect(() => setRefusal(''), [channel, user]);
  /** Shows the answer to a press, and empties the composer of a command that was ordered from its refusal. */
  const onAnswer = (id, from) => {
    if (id !== null) onJump({ channel, message: id, isAnswer: true });
    if (refusal === '' || !isSaid(from, refusal)) return;
    setRefusal('');
    setDraft({ text: '', user, channel, isRefused: false, instead: refused.current });
  };
  return { outbox, refusal, setRefusal, onAnswer, draft, setDraft };
}

/** Scrolls to a message; switches the channel and loads the page around it if needed. */
function useJumps(board, channel, onMissing) {
  const [target, setTarget] = useState(null);
  useEffect(() => {
    if (target === null || target.channel !== channel || !board.isLoaded || target.isAnswer) return;
    if (board.find(target.id) !== undefined) return;
    void board.showAround(target.id).then((isThere) => {
      if (!isThere) onMissing('That message is no longer there.');
    });
  }, [target, channel, board, board.isLoaded]);
  const jump = ({ channel: to, message, isAnswer = false }) => {
    if (to !== channel) goTo(to);
    if (message === null) return;
    // A new response is at the end of the channel.
    if (isAnswer && board.find(message) === undefined) void board.showEnd();
    setTarget({ id: message, channel: to, isAnswer });
  };
  return [target, jump];
}

/**
 * Loads the user's commands, the models that the channel's policy allows with the user's defaults, and whether clips are
 * free; reloads them on reconnect, for another user or channel and after a private `reply`, which may have changed them.
 */
function useSetup(connection, { user, channel }, reply) {
  const load = () => (connection === 'live' ? read('commands', { user, channel }) : null);
  const [setup] = useLoaded(load, [connection, user, channel, reply]);
  return setup ?? NO_SETUP;
}

function useTitle(place, latest, user) {
  const title = `${place} · Dailies`;
  useEffect(() => {
    const isUnseen = document.hidden && latest?.mentions.includes(user);
    document.title = `${isUnseen ? '● ' : ''}${title}`;
  }, [place, latest, user]);
  const onVisible = () => {
    if (!document.hidden) document.title = title;
  };
  useListener('visibilitychange', onVisible, document);
}

/** Focuses the message box on a printable key pressed outside of any input, as chat clients do. */
function useTypingAnywhere(box) {
  useListener('keydown', (event) => {
    const { key, target, ctrlKey, metaKey, altKey } = event;
    if (ctrlKey || metaKey || altKey || event.isComposing || [...key].length !== 1) return;
    if (!(target instanceof Element) || target.closest('input, textarea, select, video, dialog') !== null) return;
    // The space bar activates a focused button.
    if (key === ' ' && target.closest('button, a') !== null) return;
    box.current?.focus();
  });
}

/** Valid channel name: at most 60 characters, none of them invisible. */
const CHANNEL = /^[^\p{C}\u2028\u2029]{1,60}$/u;

/** Follows a channel in the URL's fragment, in which a slash of its name is encoded. */
const SETTINGS = '/settings';

function goTo(channel, view = '') {
  location.hash = `${encodeURIComponent(channel)}${view}`;
}

/** Returns the channel in the URL's fragment, `general` if that is missing or invalid, and whether the page Settings is shown. */
function placeIn(fragment) {
  const isSettings = fragment.endsWith(SETTINGS);
  try {
    const name = decodeURIComponent(isSettings ? fragment.slice(1, -SETTINGS.length) : fragment.slice(1)).trim();
    return [CHANNEL.test(name) ? name : 'general', isSettings];
  } catch {
    return ['general', isSettings];
  }
}

function requestersOf(messages) {
  return [...new Set(messages.map(requesterOf).filter((name) => name !== undefined))];
}

function peopleIn(messages, user) {
  return [...new Set([...PEOPLE, user, ...requestersOf(messages)])].slice(0, 30);
}

const root = document.getElementById('app');
root.replaceChildren();
render(html`<${App} />`, root);
