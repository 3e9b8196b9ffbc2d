import { html } from 'htm/preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { Clip } from './clip.js';

/**
 * A clip over the grid, with those before and after it.
 * @param {object} props `clips`: those of the grid; `at`: place of the clip among them, or of the one it is a version of
 */
export function Lightbox({ id, clips, at, onShow, onClose, ...more }) {
  const dialog = useRef(null);
  const focus = () => (dialog.current.querySelector('.play-button') ?? dialog.current).focus();
  useLayoutEffect(() => {
    dialog.current.showModal();
    focus();
  }, []);
  // A focused button of a clip goes with it.
  useEffect(() => {
    if (!dialog.current.contains(document.activeElement)) focus();
  }, [id]);
  const summary = clips.find((one) => one.id === id) ?? null;
  const to = (step) => clips[at + step] !== undefined && onShow(clips[at + step].id);
  const onKeyDown = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined || event.target.closest('input, select, textarea') !== null) return;
    event.preventDefault();
    to(step);
  };
  const button = (words, sign, step) =>
    html`<button type="button" class="button" aria-label=${words} aria-disabled=${clips[at + step] === undefined} onClick=${() => to(step)}>${sign}</button>`;
  return html`
    <dialog class="lightbox" tabindex="-1" ref=${dialog} aria-labelledby="clip-title" onClose=${onClose} onKeyDown=${onKeyDown}>
      <div class="bar">
        ${button('Previous clip', '←', -1)}
        <span class="small" role="status">${at + 1} of ${clips.length}<span class="sr">: ${summary?.prompt}</span></span>
        ${button('Next clip', '→', 1)}
        <button type="button" class="button close" onClick=${() => dialog.current.close()}>Close</button>
      </div>
      <${Clip} key=${id} level="2" id=${id} summary=${summary} ...${more} />
    </dialog>
  `;
}
