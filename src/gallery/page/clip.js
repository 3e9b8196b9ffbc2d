import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useListener } from '#src/http/shared-page/events.js';
import { newId } from '#src/http/shared-page/new-id.js';
import { change, read } from './api.js';
import { placeIn, REVIEWS } from './grid.js';

const TIME = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' });

/** Interval between two looks at a take that is being made, in milliseconds. */
const REFRESH_MS = 5_000;

/** Words for what clips were ordered in. */
const SETS = { storyboard: 'storyboard', comparison: 'comparison' };

export function ClipPage({ id, session, onBack, onFilter, onDeleted }) {
  const [clip, error, again, refresh] = useClip(id);
  const title = useRef(null);
  const player = useRef(null);
  const [isUnplayable, setUnplayable] = useState(false);
  useEffect(() => title.current?.focus(), [clip === null, error === '']);
  useListener('keydown', ({ key, target, defaultPrevented }) => {
    // It closes a dialog, or the full screen, first.
    const isTaken = defaultPrevented || document.fullscreenElement !== null || target.closest('dialog') !== null;
    if (key === 'Escape' && !isTaken) onBack();
  });
  /** Finds out why: the session has ended, the clip was deleted meanwhile, or this browser cannot play it. */
  const onUnplayable = () => {
    setUnplayable(true);
    refresh();
  };
  const onSeek = (atSeconds) => {
    player.current.pause();
    player.current.currentTime = atSeconds;
    player.current.scrollIntoView({ block: 'nearest' });
  };
  const back = html`<button type="button" class="button" onClick=${onBack}>← All clips</button>`;
  if (error !== '')
    return html`<main class="clip">${back}<h1 ref=${title} tabindex="-1">Not shown</h1><p class="wrong" role="alert">${error}</p>
      <button type="button" class="button" onClick=${again}>Try again</button></main>`;
  if (clip === null)
    return html`<main class="clip" aria-busy="true">${back}<p class="quiet" role="status">Loading the clip…</p></main>`;
  return html`
    <main class="clip">
      ${back}
      <video class="player" ref=${player} src=${`/gallery/clips/${clip.id}`} controls preload="metadata" playsinline
        aria-label=${`Clip: ${clip.prompt}`} onError=${onUnplayable}></video>
      ${isUnplayable && html`<p class="wrong" role="alert">The clip can’t be played here just now. Try to download it.</p>`}
      <h1 ref=${title} tabindex="-1" dir="auto">${clip.prompt}</h1>
      <${Facts} clip=${clip} session=${session} onFilter=${onFilter} onSeek=${onSeek} />
      <div class="actions">
        <a class="button primary" href=${`/gallery/clips/${clip.id}?download`} download>Download</a>
        <${Orders} clip=${clip} onOrdered=${refresh} onDeleted=${onDeleted} />
      </div>
      <${Takes} clip=${clip} />
    </main>
  `;
}

/** Loads a clip, and again while one of its takes is being made. @returns it, an error, and functions that load it again */
function useClip(id) {
  const [clip, setClip] = useState(null);
  const [error, setError] = useState('');
  const load = async ({ isRefresh }) => {
    try {
      setClip(await read(`clips/${encodeURIComponent(id)}`));
    } catch (thrown) {
      // What is shown stays, unless it is gone.
      if (!isRefresh || thrown.isGone) setError(thrown.message);
    }
  };
  const refresh = () => load({ isRefresh: true });
  const again = () => {
    setClip(null);
    setError('');
    void load({ isRefresh: false });
  };
  useEffect(again, []);
  const isMaking = clip?.after.some(({ isOpen }) => isOpen) === true;
  useEffect(() => {
    if (!isMaking) return undefined;
    const timer = setInterval(() => {
      if (!document.hidden) void refresh();
    }, REFRESH_MS);
    return () => clearInterval(timer);
  }, [isMaking]);
  return [clip, error, again, refresh];
}

function Facts({ clip, session, onFilter, onSeek }) {
  const link = (filter, words) =>
    html`<button type="button" class="plain-link" onClick=${() => onFilter(filter)}>${words}</button>`;
  const references = clip.references.map(({ kind, count }) => `${count} ${kind}`).join(', ');
  const rows = [
    ['By', link({ person: clip.byId }, html`<bdi>${clip.by}</bdi>`)],
    ['Made', TIME.format(clip.createdAtMs)],
    ['Model', link({ model: clip.modelName }, clip.model)],
    ['Length', `${clip.seconds} s`],
    ['Aspect ratio', clip.aspect],
    ['Resolution', clip.resolution],
    ['Style', clip.style],
    ['Sent prompt', clip.sentPrompt === null ? null : html`<span dir="auto">${clip.sentPrompt}</span>`],
    ['References', references === '' ? null : references],
    ['Starts with', clip.startsFrom === null ? null : `Last frame of shot ${clip.startsFrom}`],
    [
      'Ordered as',
      clip.set === null
        ? null
        : html`${placeIn(clip.set)} · ${link({ set: clip.set.id }, `All clips of its ${SETS[clip.set.kind] ?? 'order'}`)}`,
    ],
    ['Price', clip.price],
    ['Version', `v${clip.version}`],
    [
      'Review',
      clip.review === null
        ? null
        : html`${REVIEWS[clip.review.state] ?? 'reviewed'} by <bdi>${clip.review.by}</bdi>${clip.review.note !== null && html`<${Note} note=${clip.review.note} onSeek=${onSeek} />`}`,
    ],
    [
      'Channel',
      link(
        { channel: clip.channel },
        session.platform === 'playground' ? `#${clip.channel}` : 'All clips of its channel',
      ),
    ],
  ];
  return html`<dl class="facts">${rows.map(([name, value]) => value !== null && html`<div key=${name}><dt class="small">${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** What should change, with a button that shows the moment in the player. */
function Note({ note: { text, at, atSeconds }, onSeek }) {
  const seek = html`<button type="button" class="plain-link" aria-label=${`Show the clip at ${at}`} onClick=${() => onSeek(atSeconds)}>${at}</button>`;
  return html`${at !== null && html` at ${seek}`}: <span dir="auto">${text}</span>`;
}

/** Another take of the clip for the price on the button, with the questions that the chat asks, and its deletion. */
function Orders({ clip, onOrdered, onDeleted }) {
  const [reply, setReply] = useState(null);
  const [isBusy, setBusy] = useState(false);
  /** As `isBusy`, but at once: a double click comes before the next rendering. */
  const busy = useRef(false);
  /** Key of a press whose outcome is unknown: repeated under it, it counts once. */
  const pending = useRef(null);
  const act = async (action) => {
    if (busy.current) return;
    busy.current = true;
    setBusy(true);
    const key = JSON.stringify(action);
    if (pending.current?.key !== key) pending.current = { id: newId(), key };
    try {
      const found = await change('presses', { id: pending.current.id, task: clip.id, action });
      pending.current = null;
      setReply(found);
      if (found.kind === 'ordered') onOrdered();
      if (found.kind === 'deleted') onDeleted(clip.id, found.lines.join(' '));
    } catch (thrown) {
      setReply({ kind: 'text', lines: [thrown.message], buttons: [] });
    } finally {
      busy.current = false;
      setBusy(false);
    }
  };
  const take = reply?.kind === 'ordered' ? clip.after.find(({ id }) => id === reply.task) : undefined;
  // Until its take is done, the second half of a slow double click meets a button that does nothing.
  const isWaiting = reply?.kind === 'ordered' && (take === undefined || take.isOpen);
  const orderRetry = () => !isWaiting && act({ kind: 'retry', price: clip.retry.price });
  return html`
    ${clip.retry !== null && html`<button type="button" class="button" aria-disabled=${isBusy || isWaiting} onClick=${orderRetry}>Retry · ${clip.retry.label}</button>`}
    ${clip.mayDelete && html`<button type="button" class="button danger" aria-disabled=${isBusy} onClick=${() => act({ kind: 'delete' })}>Delete…</button>`}
    <div class="reply" role="status">
      ${isWaiting && html`<p>Another take is being made. It is posted in the clip’s channel, and appears here once it is done.</p>`}
      ${reply?.kind === 'ordered' && !isWaiting && html`<p>The take is done: ${take.hasClip ? html`<a href=${`#/clip/${take.id}`}>show it</a>` : take.phase}.</p>`}
      ${reply?.kind === 'text' && reply.lines.map((line) => html`<p dir="auto">${line}</p>`)}
      ${reply?.kind === 'text' && reply.buttons.map(({ id, label }) => html`<button type="button" class=${id.startsWith('delete:') ? 'button danger' : 'button'} key=${id} aria-disabled=${isBusy} onClick=${() => act({ kind: 'button', button: id })}>${label}</button>`)}
    </div>
  `;
}

function Takes({ clip }) {
  if (clip.before.length + clip.after.length === 0) return null;
  const all = [
    ...clip.before,
    { id: clip.id, createdAtMs: clip.createdAtMs, by: clip.by, version: clip.version, isThis: true },
    ...clip.after,
  ];
  return html`
    <h2>Versions</h2>
    <ol class="takes">
      ${all.map(
        ({ id, createdAtMs, by, version, isThis, hasClip, phase }) => html`
        <li key=${id} aria-current=${isThis ? 'true' : undefined}>
          v${version} · ${isThis ? 'This one' : hasClip ? html`<a href=${`#/clip/${id}`}>${TIME.format(createdAtMs)}</a>` : `${TIME.format(createdAtMs)} (${phase})`} · <bdi>${by}</bdi>
        </li>`,
      )}
    </ol>
  `;
}
