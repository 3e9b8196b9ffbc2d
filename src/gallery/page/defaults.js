import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { closeDialog, Dialog } from '#src/http/shared-page/dialog.js';
import { useLoaded } from '#src/http/shared-page/events.js';
import { change, read } from './api.js';
import { Choice } from './filters.js';

/** Dialog with the person's defaults, each saved once it is chosen. */
export function DefaultsDialog({ onClose }) {
  const [status, setStatus] = useState({ words: '', isWrong: false });
  const failed = ({ message }) => setStatus({ words: message, isWrong: true });
  const [found, setFound] = useLoaded(() => read('defaults'), [], failed);
  const save = async (patch) => {
    setStatus({ words: 'Saving…', isWrong: false });
    try {
      const { values } = await change('defaults', patch);
      setFound((before) => ({ ...before, values }));
      setStatus({ words: 'Saved.', isWrong: false });
    } catch (thrown) {
      // Shows again what is stored.
      setFound((before) => ({ ...before }));
      failed(thrown);
    }
  };
  return html`
    <${Dialog} kind="defaults" title="Your defaults" onClose=${onClose}>
      <p class="quiet">Your orders get these where they name none, here in the team. A retry keeps the settings of its clip.</p>
      ${found !== null && html`<${Fields} found=${found} onSave=${save} />`}
      <p class=${status.isWrong ? 'wrong' : 'quiet'} role="status">${status.words}</p>
      <button type="button" class="button" onClick=${closeDialog}>Close</button>
    <//>
  `;
}

function Fields({ found: { values, standard, models }, onSave }) {
  const titleOf = (name) => models.find((model) => model.name === name)?.title ?? name;
  const model = models.find(({ name }) => name === (values.model ?? standard)) ?? models[0];
  return html`
    <${Default} label="Model" value=${values.model} usual=${titleOf(standard)} choices=${models.map(({ name }) => name)} wordsOf=${titleOf}
      onChoose=${(chosen) => onSave({ model: chosen })} />
    <${Default} label="Length" value=${values.seconds} usual=${`${model.seconds.usual} s`} choices=${model.seconds.choices ?? []} wordsOf=${(one) => `${one} s`}
      onChoose=${(chosen) => onSave({ seconds: chosen === null ? null : Number(chosen) })} />
    <${Default} label="Aspect ratio" value=${values.aspect} usual=${model.aspect.usual ?? 'none'} choices=${model.aspect.choices} wordsOf=${String}
      onChoose=${(chosen) => onSave({ aspect: chosen })} />
  `;
}

/** Field of a default. A stored value that the model does not offer stays for the models that do. */
function Default({ label, value, usual, choices, wordsOf, onChoose }) {
  const isElsewhere = value !== null && !choices.includes(value);
  const offered = choices.map((one) => [String(one), wordsOf(one)]);
  const all = isElsewhere ? [[String(value), `${wordsOf(value)} (not with this model)`], ...offered] : offered;
  return html`
    <${Choice} label=${label} none=${`As for everyone (${usual})`} value=${value === null ? '' : String(value)} choices=${all}
      onChoose=${(key) => onChoose(key === '' ? null : key)} />
  `;
}
