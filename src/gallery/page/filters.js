import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useListener } from '#src/http/shared-page/events.js';

/** By the names of the filters in the page's address. */
export const NO_FILTERS = { text: '', person: '', model: '', channel: '', set: '', from: '', to: '' };

/** Pause in typing after which a search begins. */
const TYPING_MS = 300;

/** Search field and filters. `channels`: those of the latest clips; most platforms name them by ids only. */
export function Filters({ filters, facets, session, onFilters }) {
  const search = useRef(null);
  const [text, setText] = useState(filters.text);
  /** Narrow windows show the search alone until then. */
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setText(filters.text), [filters.text]);
  useEffect(() => {
    if (text === filters.text) return undefined;
    const timer = setTimeout(() => onFilters({ ...filters, text }), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  useSlash(search);
  const set = (name) => (value) => onFilters({ ...filters, [name]: value });
  const isFiltered = Object.values(filters).some((value) => value !== '');
  return html`
    <form class=${`filters ${isOpen ? 'open' : ''}`} role="search" onSubmit=${(event) => {
      event.preventDefault();
      onFilters({ ...filters, text });
    }}>
      <label class="field wide small"><span>Search prompts <kbd>/</kbd></span>
        <input type="search" ref=${search} value=${text} maxlength="200" autocomplete="off" placeholder="red fox"
          onInput=${(event) => setText(event.currentTarget.value)} /></label>
      <button type="button" class="button narrow-only" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>Filters</button>
      <${Choice} label="Person" none="Everyone" value=${filters.person} onChoose=${set('person')}
        choices=${withChosen(peopleOf(facets, session), filters.person)} />
      <${Choice} label="Model" none="All models" value=${filters.model} onChoose=${set('model')}
        choices=${withChosen(
          facets.models.map(({ name, title }) => [name, title]),
          filters.model,
        )} />
      <${Choice} label="Channel" none="All channels" value=${filters.channel} onChoose=${set('channel')}
        choices=${withChosen(channelsOf(facets, session), filters.channel, 'One channel')} />
      <${Day} label="From" value=${filters.from} onChoose=${set('from')} />
      <${Day} label="To" value=${filters.to} onChoose=${set('to')} />
      ${isFiltered && html`<button type="button" class="button" onClick=${() => onFilters(NO_FILTERS)}>Clear filters</button>`}
    </form>
  `;
}

function Day({ label, value, onChoose }) {
  return html`<label class="field small"><span>${label}</span><input type="date" value=${value} onChange=${(event) => onChoose(event.currentTarget.value)} /></label>`;
}

/** Field for one of some `choices`, pairs of a value and its words, or for `none` of them, the empty value. */
export function Choice({ label, none, value, choices, onChoose }) {
  return html`
    <label class="field small"><span>${label}</span>
      <select value=${value} onChange=${(event) => onChoose(event.currentTarget.value)}>
        <option value="" selected=${value === ''}>${none}</option>
        ${choices.map(([key, words]) => html`<option key=${key} value=${key} selected=${key === value}>${words}</option>`)}
      </select></label>
  `;
}

function peopleOf({ people }, { user }) {
  const others = people.filter(({ id }) => id !== user.id).map(({ id, name }) => [id, name]);
  return [[user.id, `${user.name} (you)`], ...others];
}

function channelsOf({ channels }, { platform, channel }) {
  if (platform === 'playground') return channels.map((name) => [name, `#${name}`]);
  return channel === null ? [] : [[channel, 'Where you opened this']];
}

/** Adds the chosen value, which the latest clips may not have. */
function withChosen(choices, chosen, words = chosen) {
  return chosen === '' || choices.some(([key]) => key === chosen) ? choices : [...choices, [chosen, words]];
}

/** Focuses the search field on `/`, unless the user is typing. */
function useSlash(field) {
  useListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target instanceof Element && event.target.closest('input, select, textarea') !== null) return;
    event.preventDefault();
    field.current?.focus();
  });
}
