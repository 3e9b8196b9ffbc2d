import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { newId, press, readClip } from './api.js';

const TIME = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' });

/** Page of one clip. */
export function ClipPage({ id, onEnded, onBack, onFilter }) {
  const [clip, setClip] = useState(null);
  const [error, setError] = useState('');
  const [tries, setTries] = useState(0);
  const title = useRef(null);
  useEffect(() => {
    let isCurrent = true;
    setClip(null);
    setError('');
    readClip(id).then(
      (found) => isCurrent && setClip(found),
      (thrown) => isCurrent && (thrown.hasEnded ? onEnded() : setError(thrown.message)),
    );
    return () => {
      isCurrent = false;
    };
  }, [id, tries]);
  useEffect(() => title.current?.focus(), [clip === null, error === '', id]);
  useEscape(onBack);
  const back = html`<button type="button" class="button" onClick=${onBack}>← All clips</button>`;
  if (error !== '')
    return html`<main class="clip">${back}<h1 ref=${title} tabindex="-1">Not shown</h1><p class="wrong" role="alert">${error}</p>
      <button type="button" class="button" onClick=${() => setTries(tries + 1)}>Try again</button></main>`;
  if (clip === null)
    return html`<main class="clip" aria-busy="true">${back}<p class="quiet" role="status">Loading the clip…</p></main>`;
  return html`
    <main class="clip">
      ${back}
      <video class="player" key=${clip.id} src=${`/gallery/clips/${clip.id}`} controls preload="metadata" playsinline
        aria-label=${`Clip: ${clip.prompt}`}></video>
      <h1 ref=${title} tabindex="-1" dir="auto">${clip.prompt}</h1>
      <${Facts} clip=${clip} onFilter=${onFilter} />
      <div class="actions">
        <a class="button primary" href=${`/gallery/clips/${clip.id}?download`} download>Download</a>
        <${Orders} key=${clip.id} clip=${clip} onEnded=${onEnded} />
      </div>
      <${Takes} clip=${clip} />
    </main>
  `;
}

function Facts({ clip, onFilter }) {
  const references = clip.references.map(({ kind, count }) => `${count} ${kind}`).join(', ');
  const rows = [
    [
      'By',
      html`<button type="button" class="plain-link" onClick=${() => onFilter({ person: clip.byId })}><bdi>${clip.by}</bdi></button>`,
    ],
    ['Made', TIME.format(clip.createdAtMs)],
    [
      'Model',
      html`<button type="button" class="plain-link" onClick=${() => onFilter({ model: clip.modelName })}>${clip.model}</button>`,
    ],
    ['Length', `${clip.seconds} s`],
    ['Aspect ratio', clip.aspect],
    ['Resolution', clip.resolution],
    ['References', references === '' ? null : references],
    ['Price', clip.price],
    [
      'Channel',
      html`<button type="button" class="plain-link" onClick=${() => onFilter({ channel: clip.channel })}>All clips of its channel</button>`,
    ],
  ];
  return html`<dl class="facts">${rows.map(([name, value]) => value !== null && html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** Another take of the clip for the price on the button, with the questions that the chat asks. */
function Orders({ clip, onEnded }) {
  const [reply, setReply] = useState(null);
  const [isBusy, setBusy] = useState(false);
  /** Key of a press whose outcome is unknown: repeated under it, it counts once. */
  const pending = useRef(null);
  const act = async (action) => {
    setBusy(true);
    pending.current =
      pending.current?.action === JSON.stringify(action)
        ? pending.current
        : { id: newId(), action: JSON.stringify(action) };
    try {
      setReply(await press(pending.current.id, clip.id, action));
      pending.current = null;
    } catch (thrown) {
      if (thrown.hasEnded) onEnded();
      setReply({ kind: 'text', lines: [thrown.message], buttons: [] });
    } finally {
      setBusy(false);
    }
  };
  return html`
    ${clip.retry !== null && html`<button type="button" class="button" disabled=${isBusy} onClick=${() => act({ kind: 'retry', price: clip.retry.price })}>Retry · ${clip.retry.label}</button>`}
    <div class="reply" role="status">
      ${reply?.kind === 'ordered' && html`<p>Another take is being made. It is posted in the clip’s channel, and appears here once it is done.</p>`}
      ${reply?.kind === 'text' && reply.lines.map((line) => html`<p dir="auto">${line}</p>`)}
      ${reply?.kind === 'text' && reply.buttons.map(({ id, label }) => html`<button type="button" class="button" key=${id} disabled=${isBusy} onClick=${() => act({ kind: 'button', button: id })}>${label}</button>`)}
    </div>
  `;
}

function Takes({ clip }) {
  if (clip.before.length + clip.after.length === 0) return null;
  const all = [
    ...clip.before,
    { id: clip.id, createdAtMs: clip.createdAtMs, by: clip.by, isThis: true },
    ...clip.after,
  ];
  return html`
    <h2>Takes</h2>
    <ol class="takes">
      ${all.map(
        ({ id, createdAtMs, by, isThis, hasClip, phase }) => html`
        <li key=${id} aria-current=${isThis ? 'true' : undefined}>
          ${isThis ? 'This one' : hasClip ? html`<a href=${`#/clip/${id}`}>${TIME.format(createdAtMs)}</a>` : `${TIME.format(createdAtMs)} (${phase})`} · <bdi>${by}</bdi>
        </li>`,
      )}
    </ol>
  `;
}

/** Returns to the grid on Escape. */
function useEscape(onBack) {
  useEffect(() => {
    const onKeyDown = (event) => {
      if (event.key === 'Escape' && !event.defaultPrevented && document.fullscreenElement === null) onBack();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, [onBack]);
}
