import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useListener } from '#src/http/shared-page/events.js';
import { newId } from '#src/http/shared-page/new-id.js';
import { Player } from '#src/http/shared-page/player.js';
import { change, read } from './api.js';
import { placeIn, REVIEWS } from './grid.js';

const TIME = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' });

/** Interval between two looks at a take that is being made, in milliseconds. */
const REFRESH_MS = 5_000;

/** Words for what clips were ordered in. */
const SETS = { storyboard: 'storyboard', comparison: 'comparison' };

/** Page of a clip. */
export function ClipPage({ onBack, ...more }) {
  useListener('keydown', ({ key, target, defaultPrevented }) => {
    // It closes a dialog, or the full screen, first.
    const isTaken = defaultPrevented || document.fullscreenElement !== null || target.closest('dialog') !== null;
    if (key === 'Escape' && !isTaken) onBack();
  });
  return html`
    <main class="clip-page">
      <button type="button" class="button" onClick=${onBack}>← All clips</button>
      <${Clip} level="1" ...${more} />
    </main>
  `;
}

/**
 * A clip with its facts, notes, orders and versions.
 * @param {object} props `summary`: what the grid knows of it, `null` for nothing; `level`: of its heading; `onVersion`: shows
 *   another version in place of this one
 */
export function Clip({ id, summary = null, level, session, onFilter, onDeleted, onVersion }) {
  const [clip, error, again, refresh] = useClip(id);
  const [unplayable, setUnplayable] = useState(false);
  /** Version beside which this one is shown. */
  const [other, setOther] = useState(null);
  const title = useRef(null);
  const player = useRef(null);
  useEffect(() => (level === '1' ? title.current?.focus() : undefined), [clip === null, error === '']);
  useListener(
    'keydown',
    (event) => {
      if (event.key !== 'Escape' || other === null || document.fullscreenElement !== null) return;
      event.preventDefault();
      setOther(null);
    },
    document,
  );
  const shown = clip ?? summary;
  const heading = `h${level}`;
  if (error !== '')
    return html`<div class="clip"><${heading} id="clip-title" ref=${title} tabindex="-1">Not shown</${heading}><p class="wrong" role="alert">${error}</p>
      <p><button type="button" class="button" onClick=${again}>Try again</button></p></div>`;
  if (shown === null)
    return html`<div class="clip" aria-busy="true"><p class="quiet" role="status" id="clip-title">Loading the clip…</p></div>`;
  /** Finds out why: the session has ended, the clip was deleted meanwhile, or this browser cannot play it. */
  const onUnplayable = () => {
    setUnplayable(true);
    refresh();
  };
  const notes = clip?.notes ?? [];
  const timed = notes.filter(({ atSeconds }) => atSeconds !== null);
  const markers = timed.map(({ atSeconds, text, by }) => ({ atSeconds, words: `${text} (${by})` }));
  const both = other === null ? [] : [other, clip].sort((one, two) => one.version - two.version);
  return html`
    <div class="clip">
      <div class="stage">
        ${
          other === null
            ? html`<${Player} key=${id} clips=${[screenOf(shown, session)]} markers=${markers} control=${player} onUnplayable=${onUnplayable} />`
            : html`<${Player} key=${`${id} ${other.id}`} clips=${both.map((one) => ({ ...screenOf(one, session), label: `v${one.version}` }))} />`
        }
        ${unplayable && html`<p class="wrong" role="alert">The clip can’t be played here just now. Try to download it.</p>`}
      </div>
      <div class="about">
        <${heading} id="clip-title" ref=${title} tabindex="-1" dir="auto">${shown.prompt}</${heading}>
        ${notes.length > 0 && html`<${Notes} notes=${notes} level=${level} onShow=${(atSeconds) => player.current.show(atSeconds)} />`}
        ${clip !== null && html`<${Takes} clip=${clip} level=${level} other=${other} onOther=${setOther} onVersion=${onVersion} />`}
        <div class="actions">
          <a class="button primary" href=${`/gallery/clips/${id}?download`} download>Download</a>
          ${clip !== null && html`<${Orders} clip=${clip} onOrdered=${refresh} onDeleted=${onDeleted} />`}
        </div>
        ${clip !== null && html`<${Facts} clip=${clip} session=${session} onFilter=${onFilter} />`}
      </div>
    </div>
  `;
}

/** Returns a clip as the player takes it. */
export function screenOf({ id, prompt }, { hasPosters }) {
  const poster = hasPosters ? `/gallery/posters/${id}` : undefined;
  return { id, url: `/gallery/clips/${id}`, poster, description: `Clip: ${prompt}` };
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

function Facts({ clip, session, onFilter }) {
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
      clip.review === null ? null : html`${REVIEWS[clip.review.state] ?? 'reviewed'} by <bdi>${clip.review.by}</bdi>`,
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

/** What should change, each with a button that shows its moment in the player. */
function Notes({ notes, level, onShow }) {
  const seek = ({ at, atSeconds }) =>
    html`<button type="button" class="plain-link" aria-label=${`Show the clip at ${at}`} onClick=${() => onShow(atSeconds)}>${at}</button> `;
  return html`
    <${Heading} below=${level}>Notes<//>
    <ul class="notes">
      ${notes.map((note, index) => html`<li key=${index}>${note.at !== null && seek(note)}<span dir="auto">${note.text}</span> <span class="small"><bdi>${note.by}</bdi></span></li>`)}
    </ul>
  `;
}

/** Heading one level below another. */
function Heading({ below, children }) {
  const heading = `h${Number(below) + 1}`;
  return html`<${heading} class="part">${children}</${heading}>`;
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

/** The versions of a clip, to switch between and to compare with this one. */
function Takes({ clip, level, other, onOther, onVersion }) {
  if (clip.before.length + clip.after.length === 0) return null;
  const all = [...clip.before, { ...clip, isThis: true }, ...clip.after];
  const onPick = (event, id) => {
    event.preventDefault();
    onVersion(id);
  };
  return html`
    <${Heading} below=${level}>Versions<//>
    <ol class="takes">
      ${all.map(
        ({ id, createdAtMs, by, version, isThis, hasClip, phase }) => html`
        <li key=${id} aria-current=${isThis ? 'true' : undefined}>
          <span>v${version} · ${isThis ? 'This one' : hasClip ? html`<a href=${`#/clip/${id}`} onClick=${(event) => onPick(event, id)}>${TIME.format(createdAtMs)}</a>` : `${TIME.format(createdAtMs)} (${phase})`} · <bdi>${by}</bdi></span>
          ${!isThis && hasClip && html`<button type="button" class="button small" aria-pressed=${other?.id === id} aria-label=${`Compare with v${version}`} onClick=${() => onOther(other?.id === id ? null : { id, version, prompt: clip.prompt })}>Compare</button>`}
        </li>`,
      )}
    </ol>
  `;
}
