import { html } from 'htm/preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { clock, FULL, fullScreen, isAtEnd, PAUSE, PLAY, Sound, showFirst } from './player.js';

/** Distance in pixels from which on a pointer drags a shot, and does not press it. */
const DRAG_FROM = 5;
/** Step of the arrow keys on the seek bar, in seconds. */
const SEEK_STEP = 1;

/**
 * The shots of a storyboard in the order of the cut, as wide as they are long, which play one after the other.
 * @param {object} props
 * @param {{ at: number, id: string, words: string, seconds: number, state: string | null, progress?: number | null,
 *   url: string | null, poster: string | null, isSkipped: boolean }[]} props.shots `at`: number; `id`: of the take;
 *   `url`: of its clip, `null` for none
 * @param {string | null} [props.cut] address of the file that has these clips in this order; `null`: none
 * @param {number} props.revision of the board
 * @param {((move: { shot: number, before: number, revision: number }) => Promise<string | null>) | null} [props.onMove]
 *   moves a shot before another one, or to the end (0); resolves to why that was refused. `null`: the reader may not
 */
export function Timeline({ shots, cut = null, revision, onMove = null }) {
  const root = useRef(null);
  const { shown, move, said, refusal } = useMoves(shots, revision, onMove);
  const inCut = shown.filter(({ isSkipped }) => !isSkipped);
  const leftOut = shown.filter(({ isSkipped }) => isSkipped);
  const playback = usePlayback(root, inCut, shown === shots ? cut : null);
  const { spans } = playback;
  useEffect(() => {
    if (playback.screen.isOpen) root.current.scrollIntoView({ block: 'nearest' });
  }, [playback.screen.isOpen]);
  const isThereAny = spans.some(({ url }) => url !== null);
  if (shots.length === 0) return null;
  return html`
    <div class="player timeline" ref=${root} style=${{ '--ratio': String(playback.ratio), '--columns': '1', '--rows': '1' }}>
      ${isThereAny && html`<${Screen} playback=${playback} />`}
      ${isThereAny && html`<${Transport} root=${root} playback=${playback} />`}
      <div class="reel">
        <div class="track" style=${{ '--widest': String(widestOf(inCut)) }}>
          ${isThereAny && html`<${SeekBar} playback=${playback} />`}
          <${Segments} spans=${spans} playback=${playback} move=${onMove === null ? null : move} />
        </div>
      </div>
      ${
        leftOut.length > 0 &&
        html`<div class="left-out small"><span>Left out</span><ul>${leftOut.map((shot) => html`<li key=${shot.at} class="segment" title=${shot.words}><${Picture} shot=${shot} /></li>`)}</ul></div>`
      }
      ${refusal !== '' && html`<p class="wrong" role="alert">${refusal}</p>`}
      <div class="sr" role="status">${said}</div>
    </div>
  `;
}

/** State of a shot whose clip this browser cannot play. */
const UNPLAYABLE = { url: null, poster: null, state: 'Not playable here' };

/** Returns the shots with the moments at which they begin and end in the cut, in seconds as they were ordered. */
function spansOf(shots) {
  let end = 0;
  return shots.map((shot) => {
    const start = end;
    end += shot.seconds;
    return { ...shot, start, end };
  });
}

/** Returns how many times as wide as its shortest shot a cut is. */
function widestOf(shots) {
  const seconds = shots.map((shot) => shot.seconds);
  return seconds.reduce((sum, one) => sum + one, 0) / Math.max(1, Math.min(...seconds));
}

/** Returns the accessible name of a shot: `Shot 2: it runs, 4 s`. */
function nameOf({ at, words, seconds, state, progress }) {
  const far = progress === null || progress === undefined || state === null ? '' : ` ${progress} %`;
  return `Shot ${at}: ${words}, ${seconds} s${state === null ? '' : `, ${state}${far}`}`;
}

/**
 * Holds the order while it is changed: a shot stands at its new place at once, and goes back where that is refused. One move
 * is sent at a time, since each is about the revision that the one before leads to.
 */
function useMoves(shots, revision, onMove) {
  const [moves, setMoves] = useState([]);
  const [said, setSaid] = useState('');
  const [refusal, setRefusal] = useState('');
  const [first] = moves;
  const shown = moves.reduce(moved, shots);
  useLayoutEffect(() => {
    if (first?.isDone === true && first.revision !== revision) setMoves((all) => all.filter((one) => one !== first));
  });
  useEffect(() => {
    if (first === undefined || first.revision !== undefined || onMove === null) return;
    first.revision = revision;
    const { shot, before } = first;
    void onMove({ shot, before, revision }).then((words) => {
      if (words === null) first.isDone = true;
      else setRefusal(words);
      setMoves((all) => (words === null ? [...all] : []));
    });
  });
  /** Moves a shot of the cut to a place in it, from 0. */
  const move = (shot, to) => {
    const inCut = shown.filter(({ isSkipped }) => !isSkipped).map(({ at }) => at);
    const others = inCut.filter((at) => at !== shot);
    if (to < 0 || to > others.length || inCut.indexOf(shot) === to) return;
    const next = { shot, before: others[to] ?? 0 };
    const last = moves.at(-1);
    const isReplaced = last !== undefined && last.shot === shot && last.revision === undefined;
    setMoves([...(isReplaced ? moves.slice(0, -1) : moves), next]);
    setRefusal('');
    setSaid(`Shot ${shot} is now ${to + 1} of ${inCut.length}.`);
  };
  return { shown, move, said: refusal === '' ? said : '', refusal };
}

/** Returns shots with one moved before another, or to the end. */
function moved(shots, { shot, before }) {
  const one = shots.find(({ at }) => at === shot);
  const others = shots.filter(({ at }) => at !== shot);
  const index = before === 0 ? others.length : others.findIndex(({ at }) => at === before);
  return one === undefined || index < 0 ? shots : others.toSpliced(index, 0, one);
}

/**
 * Holds the playback of a cut: of its file where there is one, else of clip after clip, of which the next is loaded ahead. Its
 * place is a shot and the part of it that has been played, so that it stays where shots are moved.
 */
function usePlayback(root, shots, cut) {
  const [place, setPlace] = useState({ at: null, done: 0 });
  const [isPlaying, setPlaying] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const [isHeard, setHeard] = useState(true);
  /** Ids of the clips that this browser cannot play, `cut` for the file. */
  const [broken, setBroken] = useState([]);
  /** Whether the video is still to be brought to the place. */
  const isBehind = useRef(true);
  const spans = spansOf(shots.map((shot) => (broken.includes(shot.id) ? { ...shot, ...UNPLAYABLE } : shot)));
  const position = positionIn(spans, place);
  const { clips, index, current, done, time } = position;
  const isCut = cut !== null && !broken.includes('cut');
  const go = (at, part) => {
    isBehind.current = true;
    setPlace({ at, done: part });
    setOpen(true);
  };
  /** Goes to a moment of the cut; where no clip is there, to the next one. */
  const seek = (atSeconds) => {
    const span = clips.find(({ end }) => atSeconds < end) ?? clips.at(-1);
    if (span !== undefined) go(span.at, Math.min(1, Math.max(0, (atSeconds - span.start) / span.seconds)));
  };
  const toggle = () => {
    if (current === undefined) return;
    if (!isPlaying && index === clips.length - 1 && done > 0.99) go(clips[0].at, 0);
    else if (!isOpen) go(current.at, done);
    setPlaying(!isPlaying);
  };
  const goOn = () => {
    if (isCut || clips[index + 1] === undefined) setPlaying(false);
    else go(clips[index + 1].at, 0);
  };
  const onBroken = (id) => {
    setBroken((all) => [...all, id]);
    if (id === current.id) goOn();
  };
  const videos = isCut ? [{ id: 'cut', url: cut, poster: null }] : clips.slice(index, index + 2);
  const { ratio, onKnown } = useVideo(root, isBehind, { position, isCut, isPlaying, onPlace: setPlace, onEnd: goOn });
  const description = current && nameOf(current);
  const screen = { isOpen: isOpen && current !== undefined, videos, onKnown, onBroken, description };
  const length = spans.at(-1)?.end ?? 0;
  return { spans, current, time, length, ratio, isPlaying, isHeard, toggle, seek, setHeard, screen };
}

/** Returns the clips that play, the one at a place, the part of it that has been played, and its time in the cut. */
function positionIn(spans, place) {
  const clips = spans.filter(({ url }) => url !== null);
  const found = clips.findIndex(({ at }) => at === place.at);
  const index = Math.max(0, found);
  const current = clips[index];
  const done = found < 0 ? 0 : place.done;
  return { clips, index, current, done, time: current === undefined ? 0 : current.start + done * current.seconds };
}

function lengthOf(clips) {
  return clips.reduce((sum, { seconds }) => sum + seconds, 0);
}

/** Returns the place at which a part of the file of a cut has been played. */
function placeIn(clips, part) {
  let left = part * lengthOf(clips);
  const at = clips.findIndex(({ seconds }, index) => {
    if (left <= seconds || index === clips.length - 1) return true;
    left -= seconds;
    return false;
  });
  return { at: clips[at].at, done: Math.min(1, left / clips[at].seconds) };
}

/** Keeps the video that is shown, and the place of the playback, together: the one that was changed leads. */
function useVideo(root, isBehind, { position, isCut, isPlaying, onPlace, onEnd }) {
  const [ratio, setRatio] = useState(16 / 9);
  const { clips, index, current, done } = position;
  const shown = () => root.current?.querySelector('video:not([hidden])') ?? null;
  const catchUp = () => {
    const video = shown();
    if (!isBehind.current || video === null || !(video.duration > 0)) return;
    isBehind.current = false;
    const part = isCut ? (lengthOf(clips.slice(0, index)) + done * current.seconds) / lengthOf(clips) : done;
    const atSeconds = part * video.duration;
    if (Math.abs(video.currentTime - atSeconds) > 0.05) video.currentTime = atSeconds;
  };
  const follow = () => {
    const video = shown();
    if (video === null || !(video.duration > 0) || isBehind.current || video.seeking) return;
    const part = isAtEnd(video) ? 1 : video.currentTime / video.duration;
    onPlace(isCut ? placeIn(clips, part) : { at: current.at, done: part });
    if (part === 1) onEnd();
  };
  const latest = useRef(follow);
  latest.current = follow;
  useLayoutEffect(() => {
    isBehind.current = true;
  }, [isCut, current?.id]);
  useEffect(() => {
    catchUp();
    const video = shown();
    if (video !== null && !isPlaying) video.pause();
    else if (video?.paused && !isAtEnd(video)) video.play().catch(() => {});
  });
  useEffect(() => {
    if (!isPlaying) return undefined;
    let frame = 0;
    const next = () => {
      latest.current();
      frame = requestAnimationFrame(next);
    };
    next();
    return () => cancelAnimationFrame(frame);
  }, [isPlaying]);
  const onKnown = ({ currentTarget: { videoWidth, videoHeight, hidden } }) => {
    if (!hidden && videoHeight > 0) setRatio(videoWidth / videoHeight);
    catchUp();
  };
  return { ratio, onKnown };
}

/** Shows the clip at the place of the playback, and has the next one loaded. */
function Screen({ playback: { screen, isHeard, toggle } }) {
  const { isOpen, videos, onKnown, onBroken, description } = screen;
  if (!isOpen) return null;
  return html`
    <div class="screens">
      <figure class="screen">
        ${videos.map(
          ({ id, url, poster }, index) => html`
          <video key=${id} src=${url} poster=${poster} hidden=${index > 0} preload="auto" playsinline muted=${!isHeard} aria-label=${description}
            onClick=${toggle} onLoadedMetadata=${onKnown} onLoadedData=${showFirst} onError=${() => onBroken(id)}></video>`,
        )}
      </figure>
    </div>
  `;
}

function Transport({ root, playback }) {
  const { current, time, length, isPlaying, isHeard, toggle, setHeard, screen } = playback;
  return html`
    <div class="transport">
      <button type="button" class="icon-button play-button" aria-label=${isPlaying ? 'Pause the cut' : 'Play the cut'} aria-disabled=${current === undefined} onClick=${toggle}>${isPlaying ? PAUSE : PLAY}</button>
      <span class="small time" aria-hidden="true">${clock(time)} / ${clock(length)}</span>
      <span class="small truncated playing" aria-hidden="true">${screen.isOpen && `${current.at}. ${current.words}`}</span>
      ${screen.isOpen && html`<${Sound} isOn=${isHeard} onToggle=${() => setHeard(!isHeard)} />`}
      ${screen.isOpen && html`<button type="button" class="icon-button" aria-label="Full screen" onClick=${() => fullScreen(root.current)}>${FULL}</button>`}
    </div>
  `;
}

function SeekBar({ playback: { current, time, length, seek } }) {
  const onKeyDown = (event) => {
    const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    if (step === undefined || event.altKey) return;
    event.preventDefault();
    seek(Math.min(length, Math.max(0, time + step * SEEK_STEP)));
  };
  const place = current === undefined ? '' : `, shot ${current.at}`;
  return html`
    <div class="seek">
      <input type="range" min="0" style=${{ '--at': String(time / length) }} max=${length} step="0.01" value=${time} aria-label="Time in the cut" aria-valuetext=${`${clock(time)} of ${clock(length)}${place}`}
        onKeyDown=${onKeyDown} onInput=${({ target }) => seek(Number(target.value))} />
    </div>
  `;
}

/** @param {object} props `move`: `(shot, to)`, to a place in the cut; `null`: the shots stay where they are */
function Segments({ spans, playback, move }) {
  const list = useRef(null);
  const { drag, handlers, isClick } = useDrag(list, spans, move);
  /** Shot whose focus a new place must not take away. */
  const kept = useRef(0);
  useLayoutEffect(() => {
    if (kept.current === 0) return;
    const button = list.current.querySelector(`[data-shot="${kept.current}"]`);
    kept.current = 0;
    if (button !== document.activeElement) button?.focus();
  });
  const { current, time, length, seek, screen } = playback;
  const onKeyDown = (event) => {
    const at = Number(event.target.dataset.shot);
    const index = spans.findIndex((span) => span.at === at);
    const to = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: spans.length - 1 }[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey) return;
    // With Alt, the arrows lead to other pages.
    event.preventDefault();
    if (!event.altKey) list.current.children[to]?.querySelector('button').focus();
    else if (move !== null) {
      kept.current = at;
      move(at, to);
    }
  };
  const marked = drag === null ? null : boundaryOf(spans, drag);
  return html`
    <ol class="segments" ref=${list} aria-label="Shots in the order of the cut" onKeyDown=${onKeyDown}>
      ${spans.map((span, index) => {
        const { at, url, start, seconds } = span;
        const isDragged = drag?.at === at;
        const classes = ['segment', url === null && 'empty', move !== null && 'movable', isDragged && 'dragged'];
        return html`
          <li key=${at} style=${{ '--seconds': String(seconds) }}>
            <button type="button" class=${classes.filter(Boolean).join(' ')} data-shot=${at} tabindex=${index === 0 ? 0 : -1} data-roving=${index > 0}
              title=${span.words} aria-current=${screen.isOpen && current.at === at ? 'true' : undefined}
              aria-keyshortcuts=${move === null ? undefined : 'Alt+ArrowLeft Alt+ArrowRight'}
              style=${{ translate: isDragged ? `${drag.dx}px` : '' }}
              onClick=${() => isClick() && url !== null && seek(start)} ...${handlers(at)}><${Picture} shot=${span} /></button>
          </li>`;
      })}
      ${screen.isOpen && html`<li class="playhead" aria-hidden="true" style=${{ '--at': String(time / length) }}></li>`}
      ${marked !== null && html`<li class="drop" aria-hidden="true" style=${{ '--at': String(marked / length) }}></li>`}
    </ol>
  `;
}

/** Returns the moment of the cut at which a dragged shot would be dropped. */
function boundaryOf(spans, { at, to }) {
  const others = spans.filter((span) => span.at !== at);
  return others[to]?.start ?? spans.at(-1).end;
}

/** What a segment shows of its shot, and its name. */
function Picture({ shot }) {
  const { at, seconds, state, progress, poster, url } = shot;
  const [missing, setMissing] = useState(null);
  const isMissing = poster === missing;
  const isRunning = state !== null && typeof progress === 'number';
  return html`
    ${!isMissing && html`<img src=${poster} alt="" draggable=${false} onError=${() => setMissing(poster)} />`}
    ${isMissing && url !== null && html`<video src=${url} preload="metadata" muted playsinline tabindex="-1" aria-hidden="true"></video>`}
    <span class="number" aria-hidden="true">${at}</span>
    ${state !== null && html`<span class="state truncated" aria-hidden="true">${state}</span>`}
    <span class="length" aria-hidden="true">${seconds} s</span>
    <span class="sr">${nameOf(shot)}</span>
    ${isRunning && html`<span class="made" aria-hidden="true" style=${{ '--done': String(progress / 100) }}></span>`}
  `;
}

/** Lets a segment be dragged with the mouse or a finger. @returns the drag, and the handlers of the segment of a shot */
function useDrag(list, spans, move) {
  const [drag, setDrag] = useState(null);
  const pressed = useRef(null);
  /** Whether the press was a drag, after which a click follows. */
  const hasDragged = useRef(false);
  const end = () => {
    pressed.current = null;
    setDrag(null);
  };
  /** Returns the place in the cut, from 0, that a shot would have at a position in the window. */
  const placeAt = (shot, x) => {
    const others = spans
      .filter(({ at }) => at !== shot)
      .map(({ at }) => list.current.querySelector(`[data-shot="${at}"]`));
    const centers = others.map((one) => one.getBoundingClientRect()).map(({ left, width }) => left + width / 2);
    return centers.filter((center) => center < x).length;
  };
  useEffect(() => {
    if (drag === null) return undefined;
    const onKeyDown = ({ key }) => key === 'Escape' && end();
    addEventListener('keydown', onKeyDown, true);
    return () => removeEventListener('keydown', onKeyDown, true);
  }, [drag === null]);
  const handlers = (at) => {
    if (move === null) return {};
    return {
      onPointerDown: ({ button, clientX, currentTarget, pointerId }) => {
        hasDragged.current = false;
        if (button !== 0) return;
        pressed.current = { at, x: clientX, pointerId };
        // A fast pointer is over another segment when it first moves.
        currentTarget.setPointerCapture(pointerId);
      },
      onPointerMove: ({ clientX, pointerId }) => {
        const from = pressed.current;
        if (from === null || from.pointerId !== pointerId) return;
        const dx = clientX - from.x;
        if (drag === null && Math.abs(dx) < DRAG_FROM) return;
        hasDragged.current = true;
        setDrag({ at, dx, to: placeAt(at, clientX) });
      },
      onPointerUp: () => {
        if (drag !== null) move(drag.at, drag.to);
        end();
      },
      onPointerCancel: end,
    };
  };
  return { drag, handlers, isClick: () => !hasDragged.current };
}
