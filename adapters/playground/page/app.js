import { render } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { act, newId, read } from './api.js';
import { useBoard } from './board.js';
import { Composer } from './composer.js';
import { FormDialog } from './form.js';
import { html } from './html.js';
import { Log } from './log.js';
import { Trouble } from './message.js';
import { Sidebar } from './sidebar.js';
import { Connect, Welcome } from './welcome.js';

const USER_KEY = 'dailies.user';
const PEOPLE = ['ada', 'sam', 'operator'];

function App() {
  const [user, setUser] = useState(rememberedUser);
  const [channel, setChannel] = useState(() => decodeURIComponent(location.hash.slice(1)) || 'general');
  const [form, setForm] = useState(null);
  const [isConnecting, setConnecting] = useState(false);
  const [trouble, setTrouble] = useState('');
  const [draft, setDraft] = useState(null);
  const [jumpTo, setJumpTo] = useState(null);
  const board = useBoard(user, channel);
  const setup = useSetup(board.connection);
  const messages = board.messages;
  const users = useMemo(() => peopleIn(messages, user), [messages.length, user]);
  const known = useMemo(() => ({ users: askersOf(messages), channels: board.channels }), [users, board.channels]);

  useEffect(() => remember(user), [user]);
  useEffect(() => {
    const follow = () => setChannel(decodeURIComponent(location.hash.slice(1)) || 'general');
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  useTitle(channel, board.latest, user);

  const goTo = (name) => {
    location.hash = encodeURIComponent(name);
  };
  const jump = (target) => {
    if (target.channel !== channel) goTo(target.channel);
    if (target.message !== null) setJumpTo({ id: target.message });
  };
  const tryExample = async (text) => {
    if (!setup.isEmbeddedService) return setDraft({ text });
    const answer = await act('interactions', { id: newId(), user, channel, text });
    if (!answer.ok) setTrouble(answer.error);
  };

  return html`
    <div class="page">
      <${Sidebar} channel=${channel} channels=${board.channels} unread=${board.unread} user=${user} users=${users}
        onChannel=${goTo} onUser=${setUser} onConnect=${() => setConnecting(true)} />
      <main class="room">
        <header class="room-header"><h1><span class="hash">#</span>${channel}</h1></header>
        <${Banner} connection=${board.connection} isLoaded=${board.isLoaded} />
        <${Log} board=${board} jumpTo=${jumpTo}
          empty=${html`<${Welcome} channel=${channel} isEmbeddedService=${setup.isEmbeddedService} onExample=${tryExample} onConnect=${() => setConnecting(true)} />`}
          messageProps=${{ user, onJump: jump, onForm: setForm, onTrouble: setTrouble }} />
        <${Composer} user=${user} channel=${channel} commands=${setup.commands} known=${known} draft=${draft} latestText=${board.latest?.text} onForm=${setForm} />
      </main>
      <${Trouble} sentence=${trouble} onClose=${() => setTrouble('')} />
      <div class="sr" role="status" aria-live="polite">${board.latest?.text ?? ''}</div>
      ${form !== null && html`<${FormDialog} key=${form.id} form=${form} user=${user} channel=${channel} onForm=${setForm} onClose=${() => setForm(null)} />`}
      ${isConnecting && html`<${Connect} onClose=${() => setConnecting(false)} />`}
    </div>
  `;
}

function Banner({ connection, isLoaded }) {
  if (connection !== 'lost') return null;
  const words = isLoaded
    ? 'The connection is lost. I keep trying; nothing is lost by it.'
    : 'I cannot reach the bot. I keep trying.';
  return html`<div class="banner" role="status">${words}</div>`;
}

/** The bot's commands, and whether its clips cost anything; read again when the bot comes back. */
function useSetup(connection) {
  const [setup, setSetup] = useState({ commands: [], isEmbeddedService: true });
  useEffect(() => {
    if (connection === 'live') read('commands').then(setSetup, () => {});
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

/** Whose clips there are. */
function askersOf(messages) {
  return [...new Set(messages.flatMap(({ clip }) => (clip === null ? [] : [clip.by])))];
}

/** Who one can be with a click. */
function peopleIn(messages, user) {
  return [...new Set([...PEOPLE, user, ...askersOf(messages)])].slice(0, 30);
}

/** Each window keeps its own person; a new one begins with the last that was chosen. */
function rememberedUser() {
  return sessionStorage.getItem(USER_KEY) ?? localStorage.getItem(USER_KEY) ?? PEOPLE[0];
}

function remember(user) {
  sessionStorage.setItem(USER_KEY, user);
  localStorage.setItem(USER_KEY, user);
}

render(html`<${App} />`, document.getElementById('app'));
