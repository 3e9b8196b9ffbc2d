import { html, render } from 'htm/preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { useFragment, useListener, useLoaded } from '#src/http/shared-page/events.js';
import { change, enter, read, SESSION_ENDED } from './api.js';
import { ClipPage } from './clip.js';
import { DefaultsDialog } from './defaults.js';
import { Filters, NO_FILTERS } from './filters.js';
import { Grid } from './grid.js';
import { Lightbox } from './lightbox.js';
import { SetOverview } from './set.js';

/** Clips that the wall loads by itself. */
const WALL_CLIPS = 48;
/** Interval between two looks for new clips, in milliseconds. */
const REFRESH_MS = 5_000;

const NO_FACETS = { people: [], channels: [], models: [] };
const EMPTY = { clips: [], next: null, searchedToMs: null, isLoading: true, error: '', isFiltered: false };

function App() {
  const [ended, setEnded] = useState('');
  useListener(SESSION_ENDED, () => setEnded('Your visit has ended.'));
  const [session] = useLoaded(enter, [], ({ message }) => setEnded((before) => before || message));
  if (ended !== '')
    return html`<main class="note"><h1>Dailies gallery</h1><p role="alert">${ended}</p>
      <p>Send <code>/video gallery</code> in the chat for a new link.</p></main>`;
  if (session === null) return html`<main class="note" aria-busy="true"><h1>Dailies gallery</h1><p>Loading…</p></main>`;
  return html`<${Gallery} session=${session} onLeft=${() => setEnded('You have left the gallery.')} />`;
}

function Gallery({ session, onLeft }) {
  const [filters, setFilters] = useState(filtersOfAddress);
  const [facets] = useLoaded(() => read('facets'), []);
  const clip = useFragment(clipIn);
  const [list, more, forget, refresh] = useClips(filters);
  const [isWall, setWall] = useWall(filters);
  const [isSetting, setSetting] = useState(false);
  const { title, last, isPage, notice, setNotice } = usePlaces(clip, list);
  const onFilters = (next) => {
    // The wall, which would not show them, is left.
    history.replaceState(null, '', addressOf(next, false) + location.hash);
    setFilters(next);
  };
  const onBack = useCallback(() => {
    location.hash = '';
  }, []);
  // In place of the one that is shown: one step back leads to the grid.
  const onShow = (id) => location.replace(`#/clip/${id}`);
  const onFilter = (some) => {
    onFilters({ ...NO_FILTERS, ...some });
    last.current = '';
    onBack();
  };
  const onDeleted = (id, words) => {
    forget(id);
    last.current = '';
    setNotice(words);
    onBack();
  };
  const at = list.clips.findIndex(({ id }) => id === last.current);
  // The next page is there before the lightbox comes to its end.
  useEffect(() => {
    const isNearEnd = clip !== null && !isPage && at >= list.clips.length - 2;
    if (isNearEnd && list.next !== null && !list.isLoading && list.error === '') void more();
  }, [clip, list]);
  useWallClips(isWall, list, { more, refresh });
  const shown = { id: clip, session, onFilter, onDeleted, onVersion: onShow };
  return html`
    <${Top} isHidden=${isWall && !isPage} name=${session.user.name} onSettings=${() => setSetting(true)} onLeft=${onLeft} />
    ${isSetting && html`<${DefaultsDialog} onClose=${() => setSetting(false)} />`}
    ${isPage && html`<${ClipPage} key=${clip} onBack=${onBack} ...${shown} />`}
    ${clip !== null && !isPage && html`<${Lightbox} clips=${list.clips} at=${at} onShow=${onShow} onClose=${() => history.back()} ...${shown} />`}
    <main class=${isWall ? 'gallery on-wall' : 'gallery'} hidden=${isPage}>
      <h1 ref=${title} class=${isWall ? 'sr' : ''} tabindex="-1">Gallery</h1>
      <p class="notice" role="status">${notice}</p>
      ${!isWall && html`<${Filters} filters=${filters} facets=${facets ?? NO_FACETS} session=${session} onFilters=${onFilters} />`}
      ${!isWall && filters.set !== '' && html`<${SetOverview} key=${filters.set} id=${filters.set} session=${session} onReordered=${() => refresh({ isReordered: true })} />`}
      <${Grid} list=${list} hasPosters=${session.hasPosters} onMore=${more} isWall=${isWall} onWall=${setWall} />
    </main>
  `;
}

function Top({ isHidden, name, onSettings, onLeft }) {
  const left = () => change('end', {}).then(onLeft, (thrown) => (thrown.hasEnded ? onLeft() : undefined));
  return html`
    <header class="top" hidden=${isHidden}>
      <img src="/gallery/page/icon.svg" alt="" width="28" height="28" /><b>Dailies</b>
      <span class="who truncated quiet"><span class="wide-only">You are </span><bdi>${name}</bdi></span>
      <button type="button" class="button" aria-haspopup="dialog" onClick=${onSettings}>Your defaults</button>
      <button type="button" class="button" onClick=${left}>Leave</button>
    </header>
  `;
}

/**
 * Keeps the place in the grid while a clip is shown, and gives the focus back to it.
 * @returns `last`: id of the clip of the grid that was shown last; `isPage`: a clip was there before the grid, so that it is not
 *   shown over it; `notice`: what happened to the clip
 */
function usePlaces(clip, list) {
  const [notice, setNotice] = useState('');
  const title = useRef(null);
  const last = useRef('');
  const isOver = useRef(clip === null);
  if (list.clips.some(({ id }) => id === clip)) last.current = clip;
  useEffect(() => {
    if (clip !== null) return setNotice('');
    isOver.current = true;
    if (notice !== '') return title.current?.focus();
    return document.getElementById(`clip-${last.current}`)?.focus();
  }, [clip]);
  return { title, last, isPage: clip !== null && !isOver.current, notice, setNotice };
}

function filtersOfAddress() {
  const given = new URLSearchParams(location.search);
  return Object.fromEntries(Object.keys(NO_FILTERS).map((name) => [name, (given.get(name) ?? '').slice(0, 200)]));
}

/** Returns the page's address with the filters and the view, so that a reload keeps them. */
function addressOf(filters, isWall) {
  const query = withoutEmpty({ ...filters, view: isWall ? 'wall' : '' }).toString();
  return `${location.pathname}${query === '' ? '' : `?${query}`}`;
}

/** Returns whether the page is the wall of posters, as its address says, and a function that changes it. */
function useWall(filters) {
  const read = () => new URLSearchParams(location.search).get('view') === 'wall';
  const [isWall, setWall] = useState(read);
  useListener('popstate', () => setWall(read()));
  const change = (to) => {
    history.pushState(null, '', addressOf(filters, to));
    setWall(to);
  };
  return [isWall, change];
}

/** Fills the wall, and adds new clips to it. */
function useWallClips(isWall, list, { more, refresh }) {
  const isFilling =
    isWall && !list.isLoading && list.error === '' && list.next !== null && list.clips.length < WALL_CLIPS;
  useEffect(() => {
    if (isFilling) void more();
  }, [isFilling, list.clips.length]);
  const latest = useRef(refresh);
  latest.current = refresh;
  useEffect(() => {
    if (!isWall) return undefined;
    const timer = setInterval(() => !document.hidden && latest.current(), REFRESH_MS);
    return () => clearInterval(timer);
  }, [isWall]);
}

function withoutEmpty(values) {
  return new URLSearchParams(Object.entries(values).filter(([, value]) => value !== ''));
}

/** Returns the id in the fragment `#/clip/…`; `null` for none. */
function clipIn(fragment) {
  return /^#\/clip\/([\w-]{1,100})$/.exec(fragment)?.[1] ?? null;
}

/** Loads the clips that match the filters. @returns the list, a function that loads its next page, one that leaves a clip out, and one that reads it again. */
function useClips(filters) {
  const [list, setList] = useState(EMPTY);
  const latest = useRef(0);
  const load = async (before, cursor) => {
    latest.current += 1;
    const turn = latest.current;
    const isFiltered = Object.values(filters).some((value) => value !== '');
    setList({ ...before, isLoading: true, error: '', isFiltered });
    try {
      const page = await read(`clips?${queryOf({ ...filters, cursor: cursor ?? '' })}`);
      if (turn !== latest.current) return;
      const known = new Set(before.clips.map(({ id }) => id));
      const clips = [...before.clips, ...page.clips.filter(({ id }) => !known.has(id))];
      setList({ ...page, clips, isLoading: false, error: '', isFiltered });
    } catch (thrown) {
      if (turn !== latest.current) return;
      setList({ ...before, next: cursor, isLoading: false, error: thrown.message, isFiltered });
    }
  };
  useEffect(() => void load(EMPTY, null), [JSON.stringify(filters)]);
  const more = () => load(list, list.next);
  /** Turn of the list that is being read again; 0 for none. */
  const refreshing = useRef(0);
  /** Reads again what is shown: with what is new, and without what may not be seen any more. */
  const refresh = async ({ isReordered = false } = {}) => {
    const turn = latest.current;
    // The clips of a set are in the order of its board.
    if ((filters.set !== '' && !isReordered) || refreshing.current === turn) return;
    refreshing.current = turn;
    const clips = [];
    let page = { next: '' };
    do {
      page = await read(`clips?${queryOf({ ...filters, cursor: page.next })}`).catch(() => null);
      if (turn !== latest.current) return;
      clips.push(...(page?.clips ?? []));
    } while (page !== null && page.next !== null && clips.length < list.clips.length);
    refreshing.current = 0;
    if (page !== null) setList((now) => ({ ...now, ...page, clips }));
  };
  const forget = (gone) => setList((now) => ({ ...now, clips: now.clips.filter(({ id }) => id !== gone) }));
  return [list, more, forget, refresh];
}

/** Returns the query of the API: days become moments in the reader's time zone, and what is empty is left out. */
function queryOf({ from, to, text, ...same }) {
  return withoutEmpty({
    ...same,
    text: text.trim(),
    from: dayStart(from, 0),
    to: to === '' ? '' : String(Number(dayStart(to, 1)) - 1),
  });
}

function dayStart(day, later) {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day) ?? [];
  if (year === undefined) return '';
  const ms = new Date(Number(year), Number(month) - 1, Number(date) + later).getTime();
  return Number.isFinite(ms) && ms >= 0 ? String(ms) : '';
}

const root = document.getElementById('app');
root.replaceChildren();
render(html`<${App} />`, root);
