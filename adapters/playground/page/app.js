import { render } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { read } from './api.js';
import { useBoard } from './board.js';
import { Composer } from './composer/composer.js';
import { useOutbox } from './composer/outbox.js';
import { FormDialog } from './form.js';
import { html } from './html.js';
import { CloseIcon } from './icons.js';
import { Log } from './messages/log.js';
import { requesterOf } from './messages/rows.js';
import { spoken } from './messages/spoken.js';
import { Sidebar } from './sidebar.js';
import { Connect, Welcome } from './welcome.js';

const USER_KEY = 'dailies.user';
const PEOPLE = ['ada', 'sam', 'operator'];
const NO_SETUP = { commands: [], models: [], isEmbeddedService: true };

function App() {
  const [user, setUser] = useState(rememberedUser);
  const [channel, setChannel] = useState(channelOfAddress);
  const [form, setForm] = useState(null);
  const [isConnecting, setConnecting] = useState(false);
  const [trouble, setTrouble] = useState('');
  const [refusal, setRefusal] = useState('');
  const [draft, setDraft] = useState(null);
  const box = useRef(null);
  const board = useBoard(user, channel);
  const setup = useSetup(board.connection);
  const messages = board.messages;
  const users = useMemo(() => peopleIn(messages, user), [messages.length, user]);
  const known = useMemo(() => ({ users: requestersOf(messages), channels: board.channels }), [users, board.channels]);
  const toBox = () => box.current?.focus();
  const goTo = (name) => {
    location.hash = encodeURIComponent(name);
  };
  const [jumpTo, jump] = useJumps(board, { channel, goTo, onMissing: setTrouble });
  const outbox = useOutbox(board, {
    onForm: setForm,
    onRefused: (entry, error) => {
      setRefusal(error);
      setDraft({ text: entry.text, user: entry.user, channel: entry.channel, isRefused: true });
    },
  });

  useEffect(() => remember(user), [user]);
  useEffect(() => {
    const follow = () => setChannel(channelOfAddress());
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  // What is said about the connection ends with it.
  useEffect(() => {
    if (board.connection === 'live') setTrouble('');
  }, [board.connection]);
  useEffect(() => setRefusal(''), [channel, user]);
  useTitle(channel, board.latest, user);
  useTypingAnywhere(box);

  const send = (text) => {
    board.readUpTo = null;
    void board.showEnd();
    outbox.send(user, channel, text);
  };
  const tryExample = (text) =>
    setup.isEmbeddedService ? send(text) : setDraft({ text, user, channel, isRefused: false });
  const onAnswer = (id) => {
    if (id !== null) jump({ channel, message: id, isAnswer: true });
  };

  return html`
    <div class="page">
      <button type="button" class="skip" onClick=${toBox}>Skip to the message box</button>
      <${Sidebar} channel=${channel} channels=${board.channels} unread=${board.unread} user=${user} users=${users}
        onChannel=${goTo} onUser=${setUser} onConnect=${() => setConnecting(true)} />
      <main class="room">
        <header class="room-header"><h1><span class="hash" aria-hidden="true">#</span>${channel}</h1></header>
        <${Banner} connection=${board.connection} isLoaded=${board.isLoaded} />
        <${Log} board=${board} jumpTo=${jumpTo} outbox=${outbox.entries} onLeave=${toBox}
          empty=${html`<${Welcome} channel=${channel} isEmbeddedService=${setup.isEmbeddedService} onExample=${tryExample} onConnect=${() => setConnecting(true)} />`}
          messageProps=${{ user, onJump: jump, onForm: setForm, onAnswer, onTrouble: setTrouble }} />
        <${Composer} key=${`${user}/${channel}`} user=${user} channel=${channel} commands=${setup.commands} models=${setup.models} known=${known} draft=${draft}
          trouble=${isSaid(board.latest, refusal) ? '' : refusal} boxRef=${box} onSend=${send} onWrite=${() => setRefusal('')} onDraftTaken=${() => setDraft(null)} />
      </main>
      <${Toast} sentence=${trouble} onClose=${() => setTrouble('')} />
      <div class="sr" role="status" aria-live="polite">${board.latest === null ? '' : spoken(board.latest.card)}</div>
      ${form !== null && html`<${FormDialog} key=${form.id} form=${form} models=${setup.models} user=${user} channel=${channel} onForm=${setForm} onAnswer=${onAnswer} onClose=${() => setForm(null)} />`}
      ${isConnecting && html`<${Connect} onClose=${() => setConnecting(false)} />`}
    </div>
  `;
}

/** A refusal that stands in the channel need not stand above the box as well. */
function isSaid(latest, refusal) {
  return latest?.visibleTo !== null && latest?.text.startsWith(refusal);
}

function Banner({ connection, isLoaded }) {
  if (connection !== 'lost') return null;
  const words = isLoaded
    ? 'Connection lost. Reconnecting… nothing you sent is lost.'
    : 'I can’t reach Dailies. I’ll keep trying.';
  return html`<div class="banner" role="status">${words}</div>`;
}

/** Something that went wrong on the way, said over the page for as long as it is wanted. */
function Toast({ sentence, onClose }) {
  if (sentence === '') return null;
  return html`
    <div class="toast" role="alert"><span>${sentence}</span>
      <button type="button" aria-label="Close" onClick=${onClose}><${CloseIcon} /></button>
    </div>
  `;
}

/** Leads to messages, also to those of another channel and those that are not loaded. */
function useJumps(board, { channel, goTo, onMissing }) {
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
    // An answer of now stands at the end of the channel.
    if (isAnswer && board.find(message) === undefined) void board.showEnd();
    setTarget({ id: message, channel: to, isAnswer });
  };
  return [target, jump];
}

/** The bot's commands and models, and whether its clips cost anything; read again when the bot comes back. */
function useSetup(connection) {
  const [setup, setSetup] = useState(NO_SETUP);
  useEffect(() => {
    if (connection === 'live')
      read('commands').then(
        (found) => setSetup({ ...NO_SETUP, ...found }),
        () => {},
      );
  }, [connection]);
  return setup;
}

function useTitle(channel, latest, user) {
  useEffect(() => {
    const isUnseen = document.hidden && latest?.mentions.includes(user);
    document.title = `${isUnseen ? '● ' : ''}#${channel} · Dailies`;
    const seen = () => {
      if (!document.hidden) document.title = `#${channel} · Dailies`;
    };
    document.addEventListener('visibilitychange', seen);
    return () => document.removeEventListener('visibilitychange', seen);
  }, [channel, latest, user]);
}

/** A key that writes, pressed where nothing is written, goes to the message box, as in any chat. */
function useTypingAnywhere(box) {
  useEffect(() => {
    const onKeyDown = (event) => {
      const { key, target, ctrlKey, metaKey, altKey } = event;
      if (ctrlKey || metaKey || altKey || event.isComposing || [...key].length !== 1) return;
      if (!(target instanceof Element) || target.closest('input, textarea, select, video, dialog') !== null) return;
      // A button takes the space bar for itself.
      if (key === ' ' && target.closest('button, a') !== null) return;
      box.current?.focus();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
}

/** Names of channels are as long as this at most, and hold nothing that cannot be seen. */
const CHANNEL = /^[^\p{C}\u2028\u2029]{1,60}$/u;

/** The channel in the page's address; an address that cannot be read names none. */
function channelOfAddress() {
  try {
    const name = decodeURIComponent(location.hash.slice(1)).trim();
    return CHANNEL.test(name) ? name : 'general';
  } catch {
    return 'general';
  }
}

/** Whose clips there are. */
function requestersOf(messages) {
  return [...new Set(messages.map(requesterOf).filter((name) => name !== undefined))];
}

/** Who one can be with a click. */
function peopleIn(messages, user) {
  return [...new Set([...PEOPLE, user, ...requestersOf(messages)])].slice(0, 30);
}

/** Each window keeps its own person; a new one begins with the last that was chosen. */
function rememberedUser() {
  return sessionStorage.getItem(USER_KEY) ?? localStorage.getItem(USER_KEY) ?? PEOPLE[0];
}

function remember(user) {
  sessionStorage.setItem(USER_KEY, user);
  localStorage.setItem(USER_KEY, user);
}

const root = document.getElementById('app');
root.replaceChildren();
render(html`<${App} />`, root);
