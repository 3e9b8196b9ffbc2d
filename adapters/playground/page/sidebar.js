import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { Initials } from './people.js';

/** Always listed, so that there is a second channel to send notifications to. */
const FIRST_CHANNELS = ['general', 'clips'];
/** Number of channels from which on the list has a search field. */
const SEARCH_FROM = 12;

export function Sidebar({ channel, isSettings, channels, unread, user, users, links, onChannel, onUser }) {
  const [search, setSearch] = useState('');
  const all = [...new Set([...FIRST_CHANNELS, ...channels, channel])];
  const hasSearch = all.length >= SEARCH_FROM;
  const wanted = hasSearch ? search.trim().toLowerCase() : '';
  const shown = all.filter((name) => name.toLowerCase().includes(wanted));
  return html`
    <aside class="sidebar">
      <div class="brand"><img src="/playground/page/icon.svg" alt="" width="28" height="28" /><b>Dailies</b></div>
      ${
        hasSearch &&
        html`<input type="search" class="channel-search" value=${search} placeholder="Find a channel" aria-label="Find a channel"
          onInput=${(event) => setSearch(event.target.value)} />`
      }
      <nav aria-label="Channels">
        ${shown.length === 0 && html`<p class="quiet">No such channel.</p>`}
        ${shown.map(
          (name) => html`
          <button type="button" key=${name} class=${`channel ${unread.has(name) ? 'unread' : ''}`}
            aria-current=${name === channel && !isSettings ? 'page' : undefined} onClick=${() => onChannel(name)}>
            <span class="hash" aria-hidden="true">#</span><span class="truncated">${name}</span>
            ${unread.has(name) && html`<span class="dot"><span class="sr">unread</span></span>`}
          </button>
        `,
        )}
      </nav>
      <div class="sidebar-end">
        ${links.map(({ name, label, open, isCurrent }) => html`<button type="button" key=${name} class=${`plain-link ${name}-link`} aria-current=${isCurrent ? 'page' : undefined} onClick=${open}>${label}</button>`)}
        <${UserSwitch} user=${user} users=${users} links=${links} onUser=${onUser} />
      </div>
    </aside>
  `;
}

function UserSwitch({ user, users, links, onUser }) {
  const [isOpen, setOpen] = useState(false);
  const [name, setName] = useState('');
  const pick = (picked) => {
    if (picked.trim() !== '') onUser(picked.trim());
    setName('');
    setOpen(false);
  };
  return html`
    <div class="user" onKeyDown=${(event) => event.key === 'Escape' && setOpen(false)}>
      <button type="button" class="user-button" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>
        <${Initials} name=${user} /><span class="sr">You are </span><span class="user-name truncated">${user}</span><span class="sr">. Change who you are</span>
        <span class="caret" aria-hidden="true">▾</span>
      </button>
      ${
        isOpen &&
        html`
        <div class="user-menu">
          <p class="quiet">Who are you?</p>
          ${users.map(
            (one) => html`
            <button type="button" key=${one} class="user-option" aria-pressed=${one === user} onClick=${() => pick(one)}>
              <${Initials} name=${one} /><span>${one}</span>${one === 'operator' && html`<small>manager</small>`}
            </button>
          `,
          )}
          <form onSubmit=${(event) => {
            event.preventDefault();
            pick(name);
          }}>
            <input type="text" value=${name} maxlength="40" placeholder="Another name" aria-label="Another name" autocomplete="off"
              onInput=${(event) => setName(event.target.value)} />
            <button type="submit" class="button plain">Switch</button>
          </form>
          ${links.map(
            ({ name, label, open }) => html`
            <button type="button" key=${name} class="plain-link" onClick=${() => {
              setOpen(false);
              open();
            }}>${label}</button>
          `,
          )}
        </div>
      `
      }
    </div>
  `;
}
