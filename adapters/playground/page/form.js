import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { act, newId } from './api.js';
import { modelOf } from './composer/order.js';
import { html } from './html.js';

const MEDIA = { image: 'Reference images', audio: 'Reference audio', video: 'Reference videos' };

/** Dialog with a form of the bot, opened by a command or from a `message`. Keeps the input until the bot accepts it. */
export function FormDialog({ form, models, user, channel, onForm, onAnswer, onClose }) {
  const dialog = useRef(null);
  const pending = useRef(null);
  const isOrder = form.fields.some(({ name }) => name === 'model') && models.length > 0;
  const [values, setValues] = useState(() => filledIn(form, isOrder));
  const [trouble, setTrouble] = useState({ sentence: '', problems: [] });
  const [isSending, setSending] = useState(false);
  const model = isOrder ? modelOf(values.model, models) : undefined;
  useLayoutEffect(() => dialog.current?.showModal(), []);

  const submit = async (event) => {
    event.preventDefault();
    if (isSending) return;
    const sent = model === undefined ? values : orderValues(values, model);
    const entered = JSON.stringify(sent);
    if (pending.current?.entered !== entered) pending.current = { id: newId(), entered };
    setSending(true);
    const address = { user, channel, message: form.message, form: form.id };
    const answer = await act('forms', { id: pending.current.id, ...address, values: sent });
    setSending(false);
    if (answer.settled) pending.current = null;
    if (!answer.ok) {
      setTrouble({ sentence: answer.error, problems: answer.problems });
      const [first] = answer.problems;
      if (first !== undefined) dialog.current?.querySelector(`[name="${first.field}"]`)?.focus();
      return;
    }
    onClose();
    if (answer.form !== null) onForm(answer.form);
    onAnswer(answer.message);
  };
  const change = (name, value) => setValues((before) => ({ ...before, [name]: value }));
  const sentenceOf = (name) =>
    trouble.problems
      .filter(({ field }) => field === name)
      .map(({ sentence }) => sentence)
      .join('\n');
  const names = isOrder ? ['prompt', 'model', 'seconds', 'aspect', 'resolution', ...Object.keys(MEDIA)] : [];
  const isAtFields = trouble.problems.length > 0 && trouble.problems.every(({ field }) => names.includes(field));
  const fields = isOrder && model !== undefined ? orderFields(form, model, models) : form.fields.map(plainField);

  return html`
    <dialog class="form" ref=${dialog} onClose=${onClose} aria-labelledby="form-title">
      <form onSubmit=${submit} novalidate=${isOrder}>
        <h2 id="form-title">${form.title}</h2>
        ${fields.map(
          (field) => html`
          <${Field} key=${field.name} field=${field} value=${values[field.name] ?? ''} problem=${sentenceOf(field.name)}
            onValue=${(value) => change(field.name, value)} />
        `,
        )}
        <p class="trouble" role="alert">${isAtFields ? '' : trouble.sentence}</p>
        <div class="buttons end">
          <button type="button" class="button plain" onClick=${() => dialog.current?.close()}>Close</button>
          <button type="submit" class="button primary" aria-disabled=${isSending} aria-busy=${isSending}>${submitLabel(form, values, model)}</button>
        </div>
      </form>
    </dialog>
  `;
}

function filledIn({ fields, media = {} }, isOrder) {
  const values = Object.fromEntries(fields.map(({ name, value }) => [name, value]));
  if (!isOrder) return values;
  return { ...values, ...Object.fromEntries(Object.keys(MEDIA).map((kind) => [kind, (media[kind] ?? []).join('\n')])) };
}

/** Returns the values of an order to send: the displayed ones, limited to the options the model takes. */
function orderValues(values, model) {
  const sent = { ...values, model: model.name };
  for (const { name, choices } of choiceFields(model)) sent[name] = chosen(values[name], choices);
  if (model.aspects.length === 0) sent.aspect = '';
  if (model.resolutions.length === 0) sent.resolution = '';
  for (const kind of Object.keys(MEDIA)) if (model.media[kind].max === 0) sent[kind] = '';
  return sent;
}

/** Returns the chosen value if it is among the choices, else the default, which comes first. */
function chosen(value, choices) {
  return choices.some((choice) => choice.value === value) ? value : (choices[0]?.value ?? '');
}

function choiceFields(model) {
  const marked = (values, first) =>
    [first, ...values.filter((value) => value !== first)].map((value) => ({
      value,
      label: value === first ? `${value} (default)` : value,
    }));
  return [
    { name: 'seconds', label: 'Length and price', choices: model.seconds },
    { name: 'aspect', label: 'Aspect', choices: marked(model.aspects, model.aspects[0]) },
    { name: 'resolution', label: 'Resolution', choices: marked(model.resolutions, model.resolution) },
  ].filter(({ choices }) => choices.length > 0 && choices[0].value != null);
}

/** Returns the fields of an order: selects for the choices of the model, and the reference media it takes. */
function orderFields(form, model, models) {
  const given = (name) => form.fields.find((field) => field.name === name) ?? {};
  const choices = models.map(({ name, label }) => ({ value: name, label }));
  const media = Object.entries(MEDIA)
    .filter(([kind]) => model.media[kind].max > 0)
    .map(([kind, label]) => {
      const { min, max } = model.media[kind];
      const count = min === max ? `exactly ${max}` : min > 0 ? `${min} to ${max}` : `up to ${max}`;
      return { name: kind, label, long: 2, required: min > 0, note: `Addresses, one a line; ${count}` };
    });
  return [
    { ...plainField(given('prompt')), label: 'Prompt', long: 4 },
    { name: 'model', label: 'Model', choices, required: true, note: given('model').note },
    ...choiceFields(model).map((field) => ({ ...field, required: true, note: given(field.name).note })),
    ...media,
  ];
}

function plainField({ name, label, required, long, note }) {
  return { name, label, required, long: long ? 4 : 0, note };
}

/** Returns the label of the submit button, with the price of an order. */
function submitLabel(form, values, model) {
  if (model === undefined) return form.submit;
  const length = chosen(values.seconds, model.seconds);
  return `${form.submit} · ${model.seconds.find(({ value }) => value === length)?.price}`;
}

function Field({ field: { name, label, required, long, note, choices }, value, problem, onValue }) {
  const described = [note && `note-${name}`, problem && `problem-${name}`].filter(Boolean).join(' ');
  const attributes = {
    id: `field-${name}`,
    name,
    required,
    dir: 'auto',
    'aria-describedby': described || undefined,
    'aria-invalid': problem !== '' || undefined,
    onInput: (event) => onValue(event.target.value),
  };
  const control = () => {
    if (choices !== undefined) {
      const current = chosen(value, choices);
      return html`
        <select ...${attributes}>
          ${choices.map((choice) => html`<option key=${choice.value} value=${choice.value} selected=${choice.value === current}>${choice.label}</option>`)}
        </select>
      `;
    }
    if (long > 0) return html`<textarea rows=${long} value=${value} ...${attributes}></textarea>`;
    return html`<input type="text" autocomplete="off" value=${value} ...${attributes} />`;
  };
  return html`
    <div class="field">
      <label for=${`field-${name}`}>${label}${required ? '' : html` <i>optional</i>`}</label>
      ${control()}
      ${note && html`<p class="small" id=${`note-${name}`}>${note}</p>`}
      <p class="trouble" id=${`problem-${name}`} role="alert">${problem}</p>
    </div>
  `;
}
