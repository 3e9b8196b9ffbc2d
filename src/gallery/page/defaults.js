import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { changeDefaults, readDefaults } from './api.js';

/** Dialog with the person's defaults, each saved once it is chosen. */
export function DefaultsDialog({ onEnded, onClose }) {
  const dialog = useRef(null);
  const [found, setFound] = useState(null);
  const [status, setStatus] = useState({ words: '', isWrong: false });
  const failed = (thrown) => (thrown.hasEnded ? onEnded() : setStatus({ words: thrown.message, isWrong: true }));
  useEffect(() => {
    dialog.current?.showModal();
    readDefaults().then(setFound, failed);
  }, []);
  const save = async (patch) => {
    setStatus({ words: 'Saving…', isWrong: false });
    try {
      const { values } = await changeDefaults(patch);
      setFound((before) => ({ ...before, values }));
      setStatus({ words: 'Saved.', isWrong: false });
    } catch (thrown) {
      // Shows again what is stored.
      setFound((before) => ({ ...before }));
      failed(thrown);
    }
  };
  return html`
    <dialog class="defaults" ref=${dialog} onClose=${onClose} aria-labelledby="defaults-title">
      <h2 id="defaults-title">Your defaults</h2>
      <p class="quiet">Your orders get these where they name none, here in the team. A retry keeps the settings of its clip.</p>
      ${found !== null && html`<${Fields} found=${found} onSave=${save} />`}
      <p class=${status.isWrong ? 'wrong' : 'quiet'} role="status">${status.words}</p>
      <button type="button" class="button" onClick=${() => dialog.current?.close()}>Close</button>
    </dialog>
  `;
}

function Fields({ found: { values, standard, models }, onSave }) {
  const titleOf = (name) => models.find((model) => model.name === name)?.title ?? name;
  const model = models.find(({ name }) => name === (values.model ?? standard)) ?? models[0];
  return html`
    <${Choice} label="Model" value=${values.model} usual=${titleOf(standard)} choices=${models.map(({ name }) => name)} wordsOf=${titleOf}
      onChoose=${(chosen) => onSave({ model: chosen })} />
    <${Choice} label="Length" value=${values.seconds} usual=${`${model.seconds.usual} s`} choices=${model.seconds.choices ?? []} wordsOf=${(one) => `${one} s`}
      onChoose=${(chosen) => onSave({ seconds: chosen === null ? null : Number(chosen) })} />
    <${Choice} label="Aspect ratio" value=${values.aspect} usual=${model.aspect.usual ?? 'none'} choices=${model.aspect.choices} wordsOf=${String}
      onChoose=${(chosen) => onSave({ aspect: chosen })} />
  `;
}

/** Field of a default. A stored value that the model does not offer stays for the models that do. */
function Choice({ label, value, usual, choices, wordsOf, onChoose }) {
  const isElsewhere = value !== null && !choices.includes(value);
  const key = value === null ? '' : String(value);
  return html`
    <label class="field"><span>${label}</span>
      <select value=${key} onChange=${(event) => onChoose(event.currentTarget.value === '' ? null : event.currentTarget.value)}>
        <option value="" selected=${key === ''}>As for everyone (${usual})</option>
        ${isElsewhere && html`<option value=${key} selected>${wordsOf(value)} (not with this model)</option>`}
        ${choices.map((one) => html`<option key=${one} value=${String(one)} selected=${String(one) === key}>${wordsOf(one)}</option>`)}
      </select></label>
  `;
}
