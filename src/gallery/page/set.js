import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { useLoaded } from '#src/http/shared-page/events.js';
import { Player } from '#src/http/shared-page/player.js';
import { read } from './api.js';
import { screenOf } from './clip.js';

const TIME = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' });
const NUMBER = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

/** What was ordered together, above its clips: a board in the order of its cut, and the cuts that were joined. */
export function SetOverview({ id, session }) {
  // Without it, the clips are shown alone.
  const [set] = useLoaded(() => read(`sets/${encodeURIComponent(id)}`), []);
  if (set === null) return null;
  const { kind, of, shots, cuts } = set;
  const clips = shots.flatMap(({ at, clip }) =>
    clip === null ? [] : [{ ...screenOf(clip, session), label: labelOf(kind, at, clip) }],
  );
  return html`
    <section class="set" aria-labelledby="set-title">
      <h2 id="set-title">${titleOf(kind, of)}</h2>
      ${kind !== 'storyboard' && clips.length > 1 && html`<${Player} clips=${clips} />`}
      ${kind === 'storyboard' && html`<ol class="shots">${shots.map((shot) => html`<${Shot} key=${shot.at} shot=${shot} />`)}</ol>`}
      ${kind === 'storyboard' && cuts.length === 0 && html`<p class="quiet">No cut yet. Join the shots in the chat.</p>`}
      ${cuts.length > 0 && html`<ul class="cuts">${cuts.map((cut) => html`<${Cut} key=${cut.id} cut=${cut} />`)}</ul>`}
    </section>
  `;
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
    <li class="cut">
      <video src=${`/gallery/cuts/${id}`} controls preload="metadata" playsinline aria-label=${`${name}, ${TIME.format(requestedAtMs)}`}
        onError=${() => setUnplayable(true)}></video>
      <p><b>${name}</b><br /><span class="small">${NUMBER.format(seconds)} s · ${NUMBER.format(bytes / 1024 / 1024)} MB · <bdi>${by}</bdi> · ${TIME.format(requestedAtMs)}</span></p>
      ${isUnplayable && html`<p class="wrong" role="alert">The cut can’t be played here just now. Try to download it in a minute.</p>`}
      <a class="button" href=${`/gallery/cuts/${id}?download`} download aria-label=${`Download the cut of ${shots} shots, ${TIME.format(requestedAtMs)}`}>Download</a>
    </li>
  `;
}
