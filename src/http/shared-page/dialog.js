import { html } from 'htm/preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

/** Modal dialog with a title. Escape and {@link closeDialog} close it, and give the focus back. */
export function Dialog({ kind, title, onClose, children }) {
  const dialog = useRef(null);
  const id = useId();
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return html`
    <dialog class=${kind} ref=${dialog} onClose=${onClose} aria-labelledby=${id}>
      <h2 id=${id}>${title}</h2>
      ${children}
    </dialog>
  `;
}

/** Handles a click on a button that closes its dialog. */
export function closeDialog(event) {
  event.currentTarget.closest('dialog').close();
}
