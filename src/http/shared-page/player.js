import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';

/** Distance from the longest clip at which another one is put in step, in seconds. */
const OUT_OF_STEP = 0.12;

const icon = (path) => html`
  <svg viewBox="0 0 20 20" width="20" height="20" fill="none" stroke="currentColor" stroke-width="1.7" stroke-linecap="round"
    stroke-linejoin="round" aria-hidden="true">${path}</svg>
`;
export const PLAY = icon(html`<path d="M6 4.5v11l9-5.5Z" fill="currentColor" />`);
export const PAUSE = icon(html`<path d="M7 5v10M13 5v10" stroke-width="3" />`);
const LOUD = icon(html`<path d="M3 8v4h3l4 3V5L6 8ZM13 7.5a4 4 0 0 1 0 5M15 5a7.5 7.5 0 0 1 0 10" />`);
const MUTE = icon(html`<path d="M3 8v4h3l4 3V5L6 8Zm10 0 4 4m0-4-4 4" />`);
export const FULL = icon(html`<path d="M3 7V3h4m6 0h4v4m0 6v4h-4m-6 0H3v-4" />`);

/**
 * Plays clips in step with each other, with one button and one seek bar; several are side by side in frames of one shape.
 * @param {object} props
 * @param {{ id: string, url: string, poster?: string, description: string, label?: any }[]} props.clips
 * @param {{ atSeconds: number, words: string }[]} [props.markers] moments that are marked on the seek bar
 * @param {{ current: any }} [props.control] is set to `{ show(atSeconds) }`, which stops there
 */
export function Player({ clips, markers = [], control = {}, onUnplayable = () => {} }) {
  const root = useRef(null);
  const { time, length, ratio, isPlaying, toggle, seek, show, onKnown } = usePlayback(root);
  const [heard, setHeard] = useState(clips.length === 1 ? clips[0].id : null);
  control.current = { show };
  const columns = clips.length === 4 && ratio > 1 ? 2 : clips.length;
  return html`
    <div class="player" ref=${root} style=${{ '--ratio': String(ratio), '--columns': String(columns), '--rows': String(Math.ceil(clips.length / columns)) }}>
      <div class="screens">
        ${clips.map(
          ({ id, url, poster, description, label }) => html`
          <figure key=${id} class="screen">
            <video src=${url} poster=${poster} preload="metadata" playsinline muted=${heard !== id} aria-label=${description}
              onClick=${toggle} onLoadedMetadata=${onKnown} onLoadedData=${showFirst} onError=${() => onUnplayable(id)}></video>
            ${label !== undefined && html`<figcaption class="small"><span>${label}</span><${Sound} isOn=${heard === id} of=${label} onToggle=${() => setHeard(heard === id ? null : id)} /></figcaption>`}
          </figure>`,
        )}
      </div>
      <div class="transport">
        <button type="button" class="icon-button play-button" aria-label=${isPlaying ? 'Pause' : 'Play'} onClick=${toggle}>${isPlaying ? PAUSE : PLAY}</button>
        <${SeekBar} time=${time} length=${length} markers=${markers} onSeek=${seek} onShow=${show} />
        <span class="small time" aria-hidden="true">${clock(time)} / ${clock(length)}</span>
        ${clips.length === 1 && html`<${Sound} isOn=${heard !== null} onToggle=${() => setHeard(heard === null ? clips[0].id : null)} />`}
        <button type="button" class="icon-button" aria-label="Full screen" onClick=${() => fullScreen(root.current)}>${FULL}</button>
      </div>
    </div>
  `;
}

/** Holds the playback of the videos below an element: all of them at one time. `show` stops at a moment, in sight. */
function usePlayback(root) {
  const [time, setTime] = useState(0);
  const [{ length, ratio }, setFacts] = useState({ length: 0, ratio: 16 / 9 });
  const [isPlaying, setPlaying] = useState(false);
  // An event of a video may come after the player is gone.
  const videos = () => [...(root.current?.querySelectorAll('video') ?? [])].filter(({ error }) => error === null);
  const seek = (atSeconds) => {
    setTime(atSeconds);
    for (const video of videos()) video.currentTime = Math.min(atSeconds, video.duration || atSeconds);
  };
  const toggle = () => {
    if (!isPlaying && time >= length - OUT_OF_STEP) seek(0);
    setPlaying(!isPlaying);
  };
  const show = (atSeconds) => {
    setPlaying(false);
    seek(atSeconds);
    root.current.scrollIntoView({ block: 'nearest' });
  };
  useEffect(() => {
    for (const video of videos()) {
      if (isPlaying) video.preload = 'auto';
      else video.pause();
    }
    if (!isPlaying) return undefined;
    let frame = 0;
    const next = () => {
      const lead = keepInStep(videos());
      if (lead !== null) setTime(lead.currentTime);
      if (lead !== null && isAtEnd(lead)) setPlaying(false);
      else frame = requestAnimationFrame(next);
    };
    next();
    return () => cancelAnimationFrame(frame);
  }, [isPlaying]);
  const onKnown = () => {
    const all = videos();
    // The shape of the first is that of all frames: one of its own would tell a clip from the others.
    const { videoWidth = 0, videoHeight = 0 } = all[0] ?? {};
    setFacts({
      length: Math.max(0, ...all.map(({ duration }) => duration || 0)),
      ratio: videoHeight > 0 ? videoWidth / videoHeight : 16 / 9,
    });
  };
  return { time, length, ratio, isPlaying, toggle, seek, show, onKnown };
}

/** Button that turns the sound on, of one clip among several. */
export function Sound({ isOn, of, onToggle }) {
  const label = of === undefined ? 'Sound' : `Sound of ${of}`;
  return html`<button type="button" class="icon-button" aria-label=${label} aria-pressed=${isOn} onClick=${onToggle}>${isOn ? LOUD : MUTE}</button>`;
}

/** Marks are for the mouse: what they lead to is listed beside the player, with buttons. */
function SeekBar({ time, length, markers, onSeek, onShow }) {
  return html`
    <div class="seek">
      <input type="range" min="0" max=${length || 1} step="0.01" value=${time} aria-label="Time" aria-valuetext=${`${clock(time)} of ${clock(length)}`}
        onInput=${({ target }) => onSeek(Number(target.value))} />
      ${length > 0 && markers.map(({ atSeconds, words }) => html`<span key=${`${atSeconds} ${words}`} class="marker" aria-hidden="true" title=${words} style=${{ '--at': String(Math.min(atSeconds / length, 1)) }} onClick=${() => onShow(atSeconds)}></span>`)}
    </div>
  `;
}

/** Plays clips at the time of the longest one, all or none: they wait for each other's data. @returns the longest; `null` while none is known */
function keepInStep(videos) {
  const known = videos.filter(({ duration }) => duration > 0);
  if (known.length === 0) return null;
  const lead = known.reduce((longest, one) => (one.duration > longest.duration ? one : longest));
  const isWaiting = videos.some((video) => video.readyState < HTMLMediaElement.HAVE_FUTURE_DATA && !isAtEnd(video));
  for (const video of known) {
    const at = Math.min(lead.currentTime, video.duration);
    if (!video.seeking && Math.abs(video.currentTime - at) > OUT_OF_STEP) video.currentTime = at;
    if (isWaiting || isAtEnd(video)) video.pause();
    else if (video.paused) video.play().catch(() => {});
  }
  return lead;
}

/** Time at which a video shows its first picture, in seconds: at 0, some browsers show none. */
export const FIRST_PICTURE = 0.001;

/** Shows the first picture of a clip in place of its poster, which is small. */
export function showFirst({ currentTarget: video }) {
  if (video.currentTime === 0) video.currentTime = FIRST_PICTURE;
}

export function isAtEnd({ currentTime, duration }) {
  return currentTime >= duration - 0.05;
}

export function fullScreen(element) {
  if (document.fullscreenElement === null) element.requestFullscreen().catch(() => {});
  else void document.exitFullscreen();
}

/** Formats a time of a clip: `0:07`. */
export function clock(seconds) {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}
