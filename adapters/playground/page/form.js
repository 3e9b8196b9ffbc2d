import { useEffect, useRef, useState } from 'preact/hooks';
import { act, newId } from './api.js';
import { html } from './html.js';

/** A form of the bot, opened by a command or from a `message`, as a dialog. What was entered stays until the bot took it. */
export function FormDialog({ form, user, channel, onForm, onClose }) {
  const dialog = useRef(null);
  const pending = useRef(null);
  const [values, setValues] = useState(() => Object.fromEntries(form.fields.map(({ name, value }) => [name, value])));
  const [trouble, setTrouble] = useState('');
  const [isSending, setSending] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);

  const submit = async (event) => {
    event.preventDefault();
    if (isSending) return;
    const entered = JSON.stringify(values);
    if (pending.current?.entered !== entered) pending.current = { id: newId(), entered };
    setSending(true);
    const answer = await act('forms', {
      id: pending.current.id,
      user,
      channel,
      message: form.message,
      form: form.id,
      values,
    });
    setSending(false);
    if (answer.offline) return setTrouble('The connection is lost. Send it again; it is done once.');
    if (answer.settled) pending.current = null;
    if (!answer.ok) return setTrouble(answer.error);
    onClose();
    if (answer.form !== null) onForm(answer.form);
  };

  return html`
    <dialog class="form" ref=${dialog} onClose=${onClose} aria-labelledby="form-title">
      <form onSubmit=${submit}>
        <h2 id="form-title">${form.title}</h2>
        ${form.fields.map(
          (field) => html`
          <${Field} key=${field.name} field=${field} value=${values[field.name] ?? ''}
            onValue=${(value) => setValues((before) => ({ ...before, [field.name]: value }))} />
        `,
        )}
        <p class="trouble" role="alert">${trouble}</p>
        <div class="buttons end">
          <button type="button" class="button plain" onClick=${() => dialog.current?.close()}>Close</button>
          <button type="submit" class="button primary" disabled=${isSending}>${form.submit}</button>
        </div>
      </form>
    </dialog>
  `;
}

function Field({ field: { name, label, required, long }, value, onValue }) {
  const attributes = { id: `field-${name}`, name, value, required, onInput: (event) => onValue(event.target.value) };
  return html`
    <label class="field" for=${`field-${name}`}>
      <span>${label}${required ? '' : html` <i>optional</i>`}</span>
      ${long ? html`<textarea rows="4" ...${attributes}></textarea>` : html`<input type="text" autocomplete="off" ...${attributes} />`}
    </label>
  `;
}
