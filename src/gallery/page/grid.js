import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';

const DAY = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });

/** Words for the state of a clip's review. */
export const REVIEWS = { signed_off: 'signed off', changes_requested: 'changes requested' };

/** Clips in one download at most, as the server allows. */
const MAX_TOGETHER = 200;

/** Time for which a pointer rests on a clip before it plays, in milliseconds: one that passes loads nothing. */
const REST_MS = 120;

/** Grid of clips, in pages. Arrow keys move between its clips; the one under the pointer, or with the focus, plays. */
export function Grid({ list, hasPosters, onMore, isWall, onWall }) {
  const { clips, next, searchedToMs, isLoading, error } = list;
  const [current, setCurrent] = useState('');
  const [playing, setPlaying] = useState('');
  const selection = useSelection(clips);
  const stop = clips.some(({ id }) => id === current) ? current : clips[0]?.id;
  return html`
    ${isWall ? html`<p class="wall-bar"><button type="button" class="button" onClick=${() => onWall(false)}>Leave the wall</button></p>` : html`<${Tools} clips=${clips} selection=${selection} onWall=${onWall} />`}
    ${
      clips.length > 0 &&
      html`<ul class=${isWall ? 'wall' : 'grid'} onKeyDown=${(event) => onKey(event, isWall ? null : selection)}>
        ${clips.map((clip) => html`<${Card} key=${clip.id} clip=${clip} hasPosters=${hasPosters} isStop=${clip.id === stop} isPlaying=${clip.id === playing} selection=${isWall ? null : selection} onCurrent=${setCurrent} onPlay=${setPlaying} />`)}
      </ul>`
    }
    <div class="below" role="status">
      ${isLoading && html`<p class="quiet">Loading clips…</p>`}
      ${!isLoading && error !== '' && html`<p class="wrong">${error}</p>`}
      ${!isLoading && error === '' && clips.length === 0 && next === null && html`<p class="empty">${list.isFiltered ? 'No clips match these filters.' : 'No clips yet. Those made in the chat appear here.'}</p>`}
      ${!isLoading && error === '' && searchedToMs !== null && html`<p class="quiet">Searched back to ${DAY.format(searchedToMs)}.</p>`}
    </div>
    ${!isLoading && (error !== '' || next !== null) && html`<button type="button" class="button more" onClick=${onMore}>${moreWords(list)}</button>`}
  `;
}

function moreWords({ error, searchedToMs }) {
  if (error !== '') return 'Try again';
  return searchedToMs === null ? 'Load more' : 'Continue';
}

/** What can be done with the clips that are selected, or with all that are shown. */
function Tools({ clips, selection, onWall }) {
  const chosen = clips.filter(({ id }) => selection.has(id));
  const isChosen = chosen.length > 0;
  return html`
    <div class=${isChosen ? 'together chosen' : 'together'}>
      ${isChosen && html`<span role="status">${chosen.length} selected</span>`}
      ${(isChosen || clips.length > 1) && partsOf(isChosen ? chosen : clips, isChosen).map(({ label, ids }) => html`<a class="button" key=${label} href=${`/gallery/zip?ids=${ids}`} download>${label}</a>`)}
      ${isChosen && html`<button type="button" class="button" onClick=${selection.clear}>Select none</button>`}
      ${!isChosen && clips.length > 0 && html`<button type="button" class="button to-wall" onClick=${() => onWall(true)}>Poster wall</button>`}
    </div>
  `;
}

/** Returns the downloads of clips: one, or several of as many as the server allows. */
function partsOf(clips, isChosen) {
  const all = clips.map(({ id }) => id);
  if (all.length <= MAX_TOGETHER)
    return [{ label: isChosen ? 'Download' : `Download these ${all.length} clips`, ids: all.join(',') }];
  const parts = Array.from({ length: Math.ceil(all.length / MAX_TOGETHER) }, (_, at) => at * MAX_TOGETHER);
  return parts.map((from) => {
    const ids = all.slice(from, from + MAX_TOGETHER);
    return { label: `Download clips ${from + 1} to ${from + ids.length}`, ids: ids.join(',') };
  });
}

/** Holds the ids of the selected clips. `toggle` selects a clip, or with `isRange` all from the last one that was toggled. */
function useSelection(clips) {
  const [ids, setIds] = useState(new Set());
  const last = useRef('');
  const all = clips.map(({ id }) => id);
  const toggle = (id, isRange) => {
    const [from, to] = [all.indexOf(last.current), all.indexOf(id)].sort((one, other) => one - other);
    const range = isRange && from >= 0 ? all.slice(from, to + 1) : [id];
    const isOn = !ids.has(id);
    last.current = id;
    setIds((before) => new Set(isOn ? [...before, ...range] : [...before].filter((one) => !range.includes(one))));
  };
  return { has: (id) => ids.has(id), toggle, clear: () => setIds(new Set()) };
}

/** @param {object} props `selection`: `null` where nothing can be selected */
function Card({ clip, hasPosters, isStop, isPlaying, selection, onCurrent, onPlay }) {
  const { id } = clip;
  const resting = useRef(0);
  const play = () => {
    clearTimeout(resting.current);
    if (!matchMedia('(prefers-reduced-motion: reduce)').matches)
      resting.current = setTimeout(() => onPlay(id), REST_MS);
  };
  const rest = () => {
    clearTimeout(resting.current);
    onPlay((playing) => (playing === id ? '' : playing));
  };
  useEffect(() => () => clearTimeout(resting.current), []);
  const onFocus = ({ target }) => {
    onCurrent(id);
    if (target.matches(':focus-visible')) play();
  };
  const isSelected = selection?.has(id) === true;
  const [width = 1, height = 1] = clip.aspect?.split(':').map(Number) ?? [];
  return html`
    <li class=${`${isSelected ? 'selected' : ''} ${width < height ? 'tall' : ''}`}>
      ${
        selection !== null &&
        html`<input type="checkbox" class="select" checked=${isSelected} tabindex=${isStop ? 0 : -1} aria-label=${`Select “${clip.prompt}”`}
          onClick=${({ shiftKey }) => selection.toggle(id, shiftKey)} />`
      }
      <a class="card" id=${`clip-${id}`} href=${`#/clip/${id}`} tabindex=${isStop ? 0 : -1} onFocus=${onFocus} onBlur=${rest}
        onPointerEnter=${({ pointerType }) => pointerType === 'mouse' && play()} onPointerLeave=${rest} onClick=${rest}>
        <${Poster} id=${id} hasPosters=${hasPosters} isPlaying=${isPlaying} />
        <span class="prompt" dir="auto">${clip.prompt}</span>
        <span class="small"><bdi>${clip.by}</bdi> · ${clip.model} · ${clip.seconds} s · ${clip.price}</span>
        <span class="small">${DAY.format(clip.createdAtMs)}${clip.isRetry ? ` · v${clip.version}` : ''}${clip.review === null ? '' : ` · ${REVIEWS[clip.review.state] ?? 'reviewed'}`}${clip.set === null ? '' : ` · ${placeIn(clip.set)}`}</span>
      </a>
    </li>
  `;
}

/** Returns the place of a clip among those that were ordered together: `take 2 of 4`, `clip B of 3`; of an inserted shot, its number. */
export function placeIn({ kind, at, of }) {
  if (kind === 'comparison') return `clip ${String.fromCharCode(64 + at)} of ${of}`;
  const name = `${kind === 'storyboard' ? 'shot' : 'take'} ${at}`;
  return at > of ? name : `${name} of ${of}`;
}

/** Picture of a clip, loaded once it is near the visible part: of the server's making, else the video's own. */
function Poster({ id, hasPosters, isPlaying }) {
  const box = useRef(null);
  const [isNear, setNear] = useState(false);
  const [hasPicture, setHasPicture] = useState(hasPosters);
  useEffect(() => {
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting !== true) return;
        setNear(true);
        observer.disconnect();
      },
      { rootMargin: '200px' },
    );
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return html`
    <span class="poster" ref=${box} aria-hidden="true">
      ${isNear && hasPicture && html`<img src=${`/gallery/posters/${id}`} alt="" onError=${() => setHasPicture(false)} />`}
      ${isNear && !hasPicture && html`<video src=${`/gallery/clips/${id}#t=0.1`} preload="metadata" muted playsinline tabindex="-1"></video>`}
      ${isPlaying && html`<video class="preview" src=${`/gallery/clips/${id}`} autoplay loop muted playsinline tabindex="-1"></video>`}
    </span>
  `;
}

/** Selects by the space bar; moves the focus by arrow keys: left and right to the neighbours, up and down by a row. */
function onKey(event, selection) {
  const cards = [...event.currentTarget.querySelectorAll('.card')];
  const at = cards.indexOf(document.activeElement);
  if (at < 0) return;
  if (event.key === ' ' && selection !== null) {
    event.preventDefault();
    selection.toggle(cards[at].id.replace('clip-', ''), event.shiftKey);
  }
  const firstTop = cards[0].getBoundingClientRect().top;
  const columns = cards.filter((card) => Math.abs(card.getBoundingClientRect().top - firstTop) < 2).length;
  const steps = {
    ArrowRight: 1,
    ArrowLeft: -1,
    ArrowDown: columns,
    ArrowUp: -columns,
    Home: -at,
    End: cards.length - 1 - at,
  };
  const step = steps[event.key];
  if (step === undefined) return;
  event.preventDefault();
  cards[Math.min(Math.max(at + step, 0), cards.length - 1)].focus();
}
