import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { useLoaded } from '#src/http/shared-page/events.js';
import { newId } from '#src/http/shared-page/new-id.js';
import { Player } from '#src/http/shared-page/player.js';
import { Timeline } from '#src/http/shared-page/timeline.js';
import { change, read } from './api.js';
import { screenOf } from './clip.js';

const TIME = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' });
const NUMBER = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

/** Interval between two looks for a cut that is being joined, in milliseconds. */
const REFRESH_MS = 3_000;

/** What was ordered together, above its clips: a board in the order of its cut, and the cuts that were joined. */
export function SetOverview({ id, session, onReordered }) {
  const [readings, setReadings] = useState(0);
  // Without it, the clips are shown alone.
  const [set] = useLoaded(() => read(`sets/${encodeURIComponent(id)}`), [readings]);
  if (set === null) return null;
  const { kind, of, shots, cuts } = set;
  const clips = shots.flatMap(({ at, clip }) =>
    clip === null ? [] : [{ ...screenOf(clip, session), label: labelOf(kind, at, clip) }],
  );
  return html`
    <section class="set" aria-labelledby="set-title">
      <h2 id="set-title">${titleOf(kind, of)}</h2>
      ${kind !== 'storyboard' && clips.length > 1 && html`<${Player} clips=${clips} />`}
      ${kind === 'storyboard' && html`<${Board} id=${id} set=${set} session=${session} onReordered=${onReordered} onChanged=${() => setReadings((count) => count + 1)} />`}
      ${cuts.length > 0 && html`<ul class="cuts">${cuts.map((cut) => html`<${Cut} key=${cut.id} cut=${cut} />`)}</ul>`}
    </section>
  `;
}

/** The cut as a timeline, the shots in its order, and what the cut in the chat is of it. */
function Board({ id, set, session, onReordered, onChanged }) {
  const { shots, cuts, revision, mayChange } = set;
  const [joining, setJoining] = useState('');
  const current = cuts.find(({ isCurrent }) => isCurrent);
  const some = shots.find(({ clip }) => clip !== null);
  const ready = shots.filter(({ clip, isSkipped }) => clip !== null && !isSkipped).length;
  /** Presses a button of the board's card. @returns the reply; a refusal where there is none */
  const press = (button) =>
    change('presses', { id: newId(), task: some.clip.id, action: { kind: 'button', button } }).catch(({ message }) => ({
      kind: 'text',
      lines: [message],
      isRefused: true,
    }));
  const onMove = async (move) => {
    const reply = await press(`move:${id}:${move.revision}:${move.shot}:${move.before}`);
    onChanged();
    onReordered();
    return reply.isRefused === true ? reply.lines.join(' ') : null;
  };
  const onJoin = async () => {
    setJoining('The shots are being joined.');
    const reply = await press(`join:set-${id}`);
    if (reply.kind === 'text') setJoining(reply.lines.join(' '));
    onChanged();
  };
  const isWaiting = joining !== '' && current === undefined;
  useEffect(() => {
    if (!isWaiting) return undefined;
    const timer = setInterval(() => !document.hidden && onChanged(), REFRESH_MS);
    return () => clearInterval(timer);
  }, [isWaiting]);
  const see = () => {
    const video = document.querySelector(`[data-cut="${CSS.escape(current.id)}"] video`);
    video.scrollIntoView({ block: 'nearest' });
    video.focus();
  };
  const shown = shots.map((shot) => segmentOf(shot, session));
  return html`
    <${Timeline} shots=${shown} revision=${revision} cut=${current === undefined ? null : `/gallery/cuts/${current.id}`} onMove=${mayChange && some !== undefined ? onMove : null} />
    <div class="cut-state" role="status">
      <span class="quiet">${isWaiting ? joining : stateOf(current, cuts)}</span>
      ${current !== undefined && html`<button type="button" class="button" onClick=${see}>See it</button>`}
      ${!isWaiting && current === undefined && ready > 1 && html`<button type="button" class="button" onClick=${onJoin}>${cuts.length === 0 ? `Join ${ready} shots` : 'Join again'}</button>`}
    </div>
    <ol class="shots">${shots.map((shot) => html`<${Shot} key=${shot.at} shot=${shot} />`)}</ol>
  `;
}

function stateOf(current, cuts) {
  if (current !== undefined) return 'The cut is up to date.';
  return cuts.length === 0 ? 'No cut yet.' : 'The board has changed since the last cut.';
}

/** Returns a shot as the timeline takes it. */
function segmentOf({ at, seconds, isSkipped, phase, clip }, session) {
  const { url = null, poster = null } = clip === null ? {} : screenOf(clip, session);
  const state =
    clip !== null ? null : phase === null ? 'Not shown' : phase.replace(/^./u, (letter) => letter.toUpperCase());
  return { at, id: clip?.id ?? `shot-${at}`, words: clip?.prompt ?? 'no clip', seconds, isSkipped, state, url, poster };
}

function labelOf(kind, at, { model }) {
  return kind === 'comparison' ? `Clip ${String.fromCharCode(64 + at)} · ${model}` : `Take ${at}`;
}

function titleOf(kind, of) {
  if (kind === 'storyboard') return `Storyboard of ${of} shots`;
  return kind === 'comparison' ? `Comparison of ${of} models` : `${of} takes`;
}

function Shot({ shot: { at, isSkipped, clip } }) {
  return html`
    <li>
      ${clip === null ? 'No clip' : html`<a href=${`#/clip/${clip.id}`} dir="auto">${clip.prompt}</a>`} (shot ${at}${isSkipped && ', left out'})
    </li>
  `;
}

function Cut({ cut: { id, shots, bytes, seconds, by, requestedAtMs } }) {
  const [isUnplayable, setUnplayable] = useState(false);
  const name = `Cut of ${shots} shots`;
  return html`
    <li class="cut" data-cut=${id}>
      <video src=${`/gallery/cuts/${id}`} controls preload="metadata" playsinline aria-label=${`${name}, ${TIME.format(requestedAtMs)}`}
        onError=${() => setUnplayable(true)}></video>
      <p><b>${name}</b><br /><span class="small">${NUMBER.format(seconds)} s · ${NUMBER.format(bytes / 1024 / 1024)} MB · <bdi>${by}</bdi> · ${TIME.format(requestedAtMs)}</span></p>
      ${isUnplayable && html`<p class="wrong" role="alert">The cut can’t be played here just now. Try to download it in a minute.</p>`}
      <a class="button" href=${`/gallery/cuts/${id}?download`} download aria-label=${`Download the cut of ${shots} shots, ${TIME.format(requestedAtMs)}`}>Download</a>
    </li>
  `;
}
