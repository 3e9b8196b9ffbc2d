import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';

/** Names of the filters, as in the page's address. */
const FILTERS = ['text', 'person', 'model', 'channel', 'set', 'from', 'to'];
export const NO_FILTERS = Object.fromEntries(FILTERS.map((name) => [name, '']));

/** Pause in typing after which a search begins. */
const TYPING_MS = 300;

export function filtersOfAddress() {
  const given = new URLSearchParams(location.search);
  return Object.fromEntries(FILTERS.map((name) => [name, (given.get(name) ?? '').slice(0, 200)]));
}

/** Writes the filters to the page's address, so that a reload keeps them. */
export function rememberFilters(filters) {
  const query = new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== '')).toString();
  history.replaceState(null, '', `${location.pathname}${query === '' ? '' : `?${query}`}${location.hash}`);
}

/** Search field and filters. `channels`: those of the latest clips; most platforms name them by ids only. */
export function Filters({ filters, facets, session, onFilters }) {
  const search = useRef(null);
  const [text, setText] = useState(filters.text);
  useEffect(() => setText(filters.text), [filters.text]);
  useEffect(() => {
    if (text === filters.text) return undefined;
    const timer = setTimeout(() => onFilters({ ...filters, text }), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  useSlash(search);
  const set = (name) => (event) => onFilters({ ...filters, [name]: event.currentTarget.value });
  const isFiltered = FILTERS.some((name) => filters[name] !== '');
  return html`
    <form class="filters" role="search" onSubmit=${(event) => {
      event.preventDefault();
      onFilters({ ...filters, text });
    }}>
      <label class="field wide"><span>Search prompts <kbd>/</kbd></span>
        <input type="search" ref=${search} value=${text} maxlength="200" autocomplete="off" placeholder="red fox"
          onInput=${(event) => setText(event.currentTarget.value)} /></label>
      <${Choice} label="Person" all="Everyone" value=${filters.person} onChange=${set('person')}
        choices=${withChosen(peopleOf(facets, session), filters.person)} />
      <${Choice} label="Model" all="All models" value=${filters.model} onChange=${set('model')}
        choices=${withChosen(
          facets.models.map(({ name, title }) => [name, title]),
          filters.model,
        )} />
      <${Choice} label="Channel" all="All channels" value=${filters.channel} onChange=${set('channel')}
        choices=${withChosen(channelsOf(facets, session), filters.channel, 'One channel')} />
      <label class="field"><span>From</span><input type="date" value=${filters.from} onChange=${set('from')} /></label>
      <label class="field"><span>To</span><input type="date" value=${filters.to} onChange=${set('to')} /></label>
      ${isFiltered && html`<button type="button" class="button" onClick=${() => onFilters(NO_FILTERS)}>Clear filters</button>`}
    </form>
  `;
}

function Choice({ label, all, value, choices, onChange }) {
  return html`
    <label class="field"><span>${label}</span>
      <select value=${value} onChange=${onChange}>
        <option value="">${all}</option>
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
  useEffect(() => {
    const onKeyDown = (event) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target instanceof Element && event.target.closest('input, select, textarea') !== null) return;
      event.preventDefault();
      field.current?.focus();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
}
