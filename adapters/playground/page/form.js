import { html } from 'htm/preact';
import { useRef, useState } from 'preact/hooks';
import { decodedText, notText } from '#src/http/shared-page/decoded-text.js';
import { closeDialog, Dialog } from '#src/http/shared-page/dialog.js';
import { newId } from '#src/http/shared-page/new-id.js';
import { act } from './api.js';
import { modelOf, priceOfTakes } from './composer/order.js';

/** Dialog with a form of the bot, opened by a command or from a `message`. Keeps the input until the bot accepts it. */
export function FormDialog({ form, models, known, user, channel, onForm, onAnswer, onClose }) {
  const pending = useRef(null);
  const isOrder = ['prompt', 'model'].every((one) => form.fields.some(({ name }) => name === one)) && models.length > 0;
  const [values, setValues] = useState(() => filledIn(form, isOrder));
  const [trouble, setTrouble] = useState({ sentence: '', problems: [] });
  const [isSending, setSending] = useState(false);
  const model = isOrder ? modelOf(values.model, models) : undefined;

  const submit = async (event) => {
    event.preventDefault();
    if (isSending) return;
    const shown = event.currentTarget;
    const sent = model === undefined ? submitted(form, values) : orderValues(values, model);
    const entered = JSON.stringify(sent);
    if (pending.current?.entered !== entered) pending.current = { id: newId(), entered };
    setSending(true);
    const price = model === undefined ? {} : { price: priceOf(values, model)?.priceId ?? '' };
    const address = { user, channel, message: form.message, form: form.id, ...price };
    const answer = await act('forms', { id: pending.current.id, ...address, values: sent });
    setSending(false);
    if (answer.settled) pending.current = null;
    if (!answer.ok) {
      setTrouble({ sentence: answer.error, problems: answer.problems });
      const [first] = answer.problems;
      if (first !== undefined) shown.querySelector(`[name="${first.field}"]`)?.focus();
      return;
    }
    onClose();
    if (answer.form !== null) onForm(answer.form);
    onAnswer(answer.message, form.from, answer.card);
  };
  const change = (name, value) => setValues((before) => ({ ...before, [name]: value }));
  const fields = isOrder && model !== undefined ? orderFields(form, model, models) : form.fields.map(plainField);
  const isAtField = ({ field }) => fields.some(({ name }) => name === field);
  const isAtFields = trouble.problems.length > 0 && trouble.problems.every(isAtField);

  return html`
    <${Dialog} kind="form" title=${form.title} onClose=${onClose}>
      <form onSubmit=${submit} novalidate=${isOrder}>
        ${fields.map(
          (field) => html`
          <${Field} key=${field.name} field=${field} known=${known} value=${values[field.name] ?? ''} problem=${problemOf(field.name, trouble)}
            onValue=${(value) => change(field.name, value)} />
        `,
        )}
        ${model && html`<p class="small price" role="status">${priceOf(values, model)?.priceInFull}</p>`}
        <p class="trouble" role="alert">${isAtFields ? '' : trouble.sentence}</p>
        <div class="buttons end">
          <button type="button" class="button plain" onClick=${closeDialog}>Close</button>
          <button type="submit" class="button primary" aria-disabled=${isSending} aria-busy=${isSending}>${submitLabel(form, values, model)}</button>
        </div>
      </form>
    <//>
  `;
}

/** Returns the errors of a field, one a line. */
function problemOf(name, { problems }) {
  const own = problems.filter(({ field }) => field === name);
  return own.map(({ sentence }) => sentence).join('\n');
}

function filledIn({ fields, media = {} }, isOrder) {
  const values = Object.fromEntries(
    fields.map((field) => [field.name, isPicked(field) ? picked(field.value) : field.value]),
  );
  if (!isOrder) return values;
  const addresses = Object.entries(media).map(([kind, given]) => [kind, given.join('\n')]);
  return { ...values, ...Object.fromEntries(addresses) };
}

/** Controls of what the page has names for, which are typed with completion. */
function isPicked({ control }) {
  return control === 'person' || control === 'approver' || control === 'channel';
}

/** Returns the names of mentions such as `<@ada|ada>`, one per line, as they are typed: separated by commas. */
function picked(value) {
  return value
    .split('\n')
    .map((one) => one.replace(/^<(?:@|#)([^|>]+).*>$/u, '$1'))
    .join(', ');
}

/** Returns the values to send: of several names, one per line. */
function submitted({ fields }, values) {
  const several = fields.filter((field) => isPicked(field) && field.most > 1);
  const lines = several.map(({ name }) => [
    name,
    values[name]
      .split(',')
      .map((one) => one.trim())
      .join('\n'),
  ]);
  return { ...values, ...Object.fromEntries(lines) };
}

/** Returns the values of an order to send: the displayed ones, limited to the options the model takes. */
function orderValues(values, model) {
  const settings = model.settings.map(({ name, choices }) => [name, chosen(values[name] ?? '', choices)]);
  const taken = Object.fromEntries([...settings, ...model.media.map(({ name }) => [name, values[name] ?? ''])]);
  const others = Object.keys(values).map((name) => [name, '']);
  const { prompt, takes = '', style = '' } = values;
  return { ...Object.fromEntries(others), ...taken, takes, style, prompt, model: model.name };
}

/** Returns the chosen value if it is among the choices, else the default, which comes first; any value without choices. */
function chosen(value, choices) {
  if (choices === null) return value;
  return choices.some((choice) => choice.value === value) ? value : (choices[0]?.value ?? '');
}

/** Returns the fields of an order: selects for the choices of the model, and the reference media it takes. */
function orderFields(form, model, models) {
  const given = (name) => form.fields.find((field) => field.name === name) ?? {};
  const choices = models.map(({ name, label }) => ({ value: name, label }));
  const media = model.media.map(({ name, label, min, max }) => {
    const count = min === max ? `exactly ${max}` : min > 0 ? `${min} to ${max}` : `up to ${max}`;
    return { name, label, long: 2, required: min > 0, note: `Addresses, one a line; ${count}` };
  });
  const settings = model.settings.map(({ name, label, choices: all }) => ({
    name,
    label,
    choices: all ?? undefined,
    required: all !== null,
    note: given(name).note,
  }));
  return [
    { ...plainField(given('prompt')), label: 'Prompt', long: 4 },
    { name: 'model', label: 'Model', choices, required: true, note: given('model').note },
    ...settings,
    ...takesFields(given('takes')),
    ...form.fields.filter(({ name }) => name === 'style').map(plainField),
    ...media,
  ];
}

/** Returns the field of the number of takes, unless there is nothing to choose. */
function takesFields({ name, label, choices, note }) {
  const all = choices?.all ?? [];
  return all.length < 2 ? [] : [{ name, label, choices: all, required: true, note }];
}

function plainField({ name, label, required, long, note, maxLength, choices, lines, control, most = 1 }) {
  const field = {
    control,
    most,
    name,
    label: choices?.title ?? label,
    required,
    long: long ? (lines ? 8 : 4) : 0,
    note,
    maxLength,
    lines,
  };
  if (choices === undefined) return field;
  const none = required || most > 1 ? [] : [{ value: '', label: choices.placeholder }];
  const all = choices.all.map(({ value, label: text, description }) => ({
    value,
    label: description === undefined ? text : `${text} · ${description}`,
  }));
  return { ...field, choices: [...none, ...all] };
}

function submitLabel(form, values, model) {
  const price = model && priceOf(values, model)?.price;
  return price === undefined ? form.submit : `${form.submit} · ${price}`;
}

/** Returns the chosen length with its price; `undefined` if there are too many lengths to list. */
function lengthOf(values, model) {
  const lengths =
    model.settings.find(({ choices }) => choices?.some(({ price }) => price !== undefined))?.choices ?? [];
  const length = chosen(values.seconds, lengths);
  return lengths.find(({ value }) => value === length);
}

/** Returns the price of the chosen length and number of takes; `undefined` if there are too many lengths to list. */
function priceOf(values, model) {
  return priceOfTakes(lengthOf(values, model), values.takes);
}

function Field({ field, known, value, problem, onValue }) {
  const { name, label, required, note, lines, control, choices, most = 1 } = field;
  const described = [note && `note-${name}`, problem && `problem-${name}`].filter(Boolean).join(' ');
  const attributes = {
    id: `field-${name}`,
    name,
    required,
    dir: 'auto',
    maxlength: field.maxLength,
    'aria-describedby': described || undefined,
    'aria-invalid': problem !== '' || undefined,
    onInput: (event) => onValue(event.target.value),
  };
  const optional = required || control === 'switch' ? '' : html` <i>optional</i>`;
  const isGroup = choices !== undefined && most > 1;
  const body = html`
    ${
      isGroup
        ? html`<legend>${label}${optional}</legend> <${Boxes} field=${field} value=${value} described=${described} onValue=${onValue} />`
        : html`<label for=${`field-${name}`}>${label}${optional}</label> ${control === 'switch' ? switchOf(attributes, value, onValue) : inputOf(field, attributes, value, known)}`
    }
    ${lines && html`<${TextFile} name=${name} onText=${onValue} /> <span class="small" role="status">${shotsIn(value)}</span>`}
    ${note && html`<p class="small" id=${`note-${name}`}>${note}</p>`}
    <p class="trouble" id=${`problem-${name}`} role="alert">${problem}</p>
  `;
  const kind = control === 'switch' ? 'field with-switch' : 'field';
  return isGroup ? html`<fieldset class="field">${body}</fieldset>` : html`<div class=${kind}>${body}</div>`;
}

function inputOf({ name, long, choices, control }, attributes, value, known) {
  if (choices !== undefined) {
    const current = chosen(value, choices);
    return html`
      <select ...${attributes}>
        ${choices.map((choice) => html`<option key=${choice.value} value=${choice.value} selected=${choice.value === current}>${choice.label}</option>`)}
      </select>
    `;
  }
  if (long > 0) return html`<textarea rows=${long} value=${value} ...${attributes}></textarea>`;
  const names = isPicked({ control }) ? known[control === 'channel' ? 'channels' : 'users'] : [];
  const list = names.length === 0 ? undefined : `names-${name}`;
  return html`
    <input type="text" autocomplete="off" list=${list} value=${value} ...${attributes} />
    ${list && html`<datalist id=${list}>${names.map((one) => html`<option key=${one} value=${one} />`)}</datalist>`}
  `;
}

function switchOf(attributes, value, onValue) {
  const onInput = (event) => onValue(event.target.checked ? 'on' : 'off');
  return html`<input ...${attributes} type="checkbox" role="switch" required=${false} checked=${value === 'on'} onInput=${onInput} />`;
}

/** Boxes for several of the choices, whose values are one per line. */
function Boxes({ field: { name, choices }, value, described, onValue }) {
  const chosenValues = value === '' ? [] : value.split('\n');
  const toggle = (one) =>
    onValue(
      choices
        .map((choice) => choice.value)
        .filter((each) => chosenValues.includes(each) !== (each === one))
        .join('\n'),
    );
  return html`
    <div class="boxes" aria-describedby=${described || undefined}>
      ${choices.map(
        (choice) => html`
        <label key=${choice.value}>
          <input type="checkbox" name=${name} value=${choice.value} checked=${chosenValues.includes(choice.value)} onInput=${() => toggle(choice.value)} />
          ${choice.label}
        </label>
      `,
      )}
    </div>
  `;
}

/** Counts the shots of a storyboard, one a line; a first line of options alone is for all of them. */
function shotsIn(text) {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const count = lines.length - (/^\s*--\S+(\s+\S+)?\s*(--|$)/.test(lines[0] ?? '') ? 1 : 0);
  return count === 1 ? '1 shot' : `${count} shots`;
}

/** Fills a field from a text file, which stays in the browser until the form is sent. */
function TextFile({ name, onText }) {
  const [trouble, setTrouble] = useState('');
  const read = async ({ target }) => {
    const [file] = target.files;
    const text = file === undefined ? null : decodedText(new Uint8Array(await file.arrayBuffer()));
    if (text !== null) onText(text);
    setTrouble(file === undefined || text !== null ? '' : notText(file.name));
    target.value = '';
  };
  return html`
    <p class="trouble" role="alert">${trouble}</p>
    <label class="small file">From a text file <input type="file" name=${`${name}-file`} accept=".txt,.md,text/plain" onChange=${read} /></label>
  `;
}
