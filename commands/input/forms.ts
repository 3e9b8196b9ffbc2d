import type { Draft } from '#src/pipeline/index.ts';
import { formatTimecode, isBlind, isContentRemoved, type Task, type TaskId } from '#src/tasks/index.ts';
import {
  asTyped,
  type Catalog,
  checkRequest,
  draftOfRequest,
  MEDIA_KINDS,
  type MediaKind,
  type Model,
  priceFingerprint,
  type Refusal,
  type RequestDraft,
  SETTINGS,
  type Setting,
  settingNamed,
  type UpstreamId,
  type VideoRequest,
} from '#src/videos/index.ts';
import { submitDeny } from '../approvals/decide.ts';
import type { Caller, Form, FormField, Reply } from '../bot-port.ts';
import { draftFor } from '../orders/drafts.ts';
import { askBeforeShowing, type Kept, refuseRequest } from '../orders/offers.ts';
import { placedReply, placeOrder } from '../orders/place-order.ts';
import { decide } from '../orders/task-actions.ts';
import { mayNotDecideOn } from '../policy/rules-here.ts';
import { submitChanges } from '../review/decide.ts';
import { BLIND_UNTIL_REVEAL } from '../sentences/cards/comparison.ts';
import { quoted, shorten } from '../sentences/format.ts';
import { FORM_WORDS } from '../sentences/forms.ts';
import { refusalOfId, refusalProblems, refusalSentence, UNKNOWN_BUTTON } from '../sentences/refusals.ts';
import { PROMPT_REMOVED } from '../sentences/removal.ts';
import {
  filesLabel,
  formChoices,
  modelChoices,
  ORDER_LABELS,
  offerWords,
  SETTING_WORDS,
  styleChoices,
  takesChoices,
} from '../sentences/settings.ts';
import { placeInserted } from '../storyboard/insert.ts';
import { orderEntered, sharedIn } from '../storyboard/script.ts';
import { field, formId, formReply, parseForm } from '../ui/form-ids.ts';
import { type BotPorts, refused } from './subcommand.ts';
import { taskHere } from './task-lookup.ts';

type FormValues = Readonly<Record<string, string>>;

/** Returns the form of a bare `/video`: empty, since a prompt alone is enough, but for the caller's own defaults. */
export function createForm(catalog: Catalog): Reply {
  const { name, personal } = catalog.defaultModel;
  const given = personal === undefined ? {} : { model: name, ...personal };
  return orderForm({ id: formId({ form: 'create' }), ...FORM_WORDS.create }, catalog, given);
}

/** Returns the form of **Edit & retry**, prefilled with the values of the task that the catalog still accepts. */
export function editForm(catalog: Catalog, task: Task): Reply {
  const form = { id: formId({ form: 'edit', task: task.id }), ...FORM_WORDS.edit };
  const reply = orderForm(form, catalog, draftOfRequest(task.request));
  const notes = notesFor(task);
  if (reply.kind !== 'form' || notes === null) return reply;
  const fields = reply.form.fields.map((field) =>
    field.name === 'prompt' && field.note === undefined ? { ...field, note: shorten(notes, NOTE_LENGTH) } : field,
  );
  return { kind: 'form', form: { ...reply.form, fields } };
}

/** Returns the form of a shot that is inserted before another one: without words, and with the settings of that shot. */
export function insertForm(
  catalog: Catalog,
  where: { readonly task: TaskId; readonly before: number },
  { request }: Task,
): Reply {
  const { prompt: _, ...settings } = fitRequest(catalog, settingsOf(request)).request;
  const reply = orderForm({ id: formId({ form: 'insert', ...where }), ...FORM_WORDS.insert }, catalog, settings);
  return formOfShot(reply);
}

/** Leaves out the number of takes: a shot is one clip. */
function formOfShot(reply: Reply): Reply {
  if (reply.kind !== 'form') return reply;
  const fields = reply.form.fields.filter(({ name }) => name !== 'takes');
  return { kind: 'form', form: { ...reply.form, fields } };
}

/** Returns the options of a request without its reference media; the words only so that the others can be checked. */
function settingsOf(request: VideoRequest): RequestDraft {
  const { image: _image, audio: _audio, video: _video, ...settings } = asTyped(draftOfRequest(request));
  return settings;
}

/** Returns the newest notes on a clip as the text beside the prompt of its next version; `null` if it has none. */
function notesFor({ review = [] }: Pick<Task, 'review'>): string | null {
  const notes = review.flatMap(({ note }) => note ?? []).toReversed();
  const words = notes.map(
    ({ text, atSeconds }) => `${atSeconds === undefined ? '' : `${formatTimecode(atSeconds)} `}${text}`,
  );
  return words.length === 0 ? null : `Requested: ${words.join(' · ').replace(/\s+/gu, ' ')}`;
}

/** Returns the form of a storyboard, with its text as far as it was written. @param draft `null`: none was refused */
export function storyboardForm(
  { catalog: current, frames }: Pick<BotPorts, 'catalog' | 'frames'>,
  draft: TaskId | null,
  request: RequestDraft,
): Reply {
  const catalog = current();
  const { field: chainLabel, ...chainChoices } = CHAIN_CHOICES;
  const chain = field('chain', chainLabel, { value: request.chain === true ? 'on' : '', choices: chainChoices });
  const settings = settingFields(catalog, request);
  const isOptional = ({ name }: FormField): boolean => name === 'resolution' || name === 'style';
  const optional = [...(frames.missing().length > 0 ? [] : [chain]), ...settings.filter(isOptional)];
  const fields = [
    field('shots', FORM_WORDS.storyboard.field, {
      value: request.script ?? '',
      required: true,
      long: true,
      lines: true,
      note: 'A line may end with its own options, such as --seconds 4. The price is shown before you buy.',
    }),
    ...settings.filter((one) => !isOptional(one)),
    ...optional.toSorted((one, other) => Number(other.value !== '') - Number(one.value !== '')),
  ];
  return formReply({ form: 'storyboard', task: draft }, FORM_WORDS.storyboard, fields);
}

/** Returns the fields for the model, for each setting, and for the style where there is a choice. */
function settingFields(catalog: Catalog, request: RequestDraft): readonly FormField[] {
  const model = modelOf(catalog, request);
  const styles = styleChoices(catalog);
  const style = styles?.all.find((one) => one.value === request.style)?.value ?? '';
  return [
    field('model', modelLabel(catalog), {
      value: request.model ?? '',
      choices: modelChoices(catalog, request.seconds?.toString()),
    }),
    ...SETTINGS.map((setting) => {
      const choices = formChoices(catalog, setting);
      return field(setting.name, settingLabel(setting, model), {
        value: String(request[setting.name] ?? ''),
        ...(choices === undefined ? {} : { choices }),
      });
    }),
    ...(styles === undefined ? [] : [field('style', ORDER_LABELS.style, { value: style, choices: styles })]),
  ];
}

/** Returns the model that a request names, as far as the catalog has it, or the default. */
function modelOf({ models, defaultModel }: Catalog, request: RequestDraft): Model {
  return models.find(({ name }) => name === request.model) ?? defaultModel;
}

/** Returns the form of **Fix it**: the valid values of a refused request, with notes on the invalid ones. */
export function fixForm(ports: Pick<BotPorts, 'catalog' | 'frames'>, { id, request, takeOf }: Draft): Reply {
  if (request.script !== undefined) return storyboardForm(ports, id, request);
  const form = { id: formId({ form: 'fix', task: id }), ...FORM_WORDS.fix };
  const reply = orderForm(form, ports.catalog(), request, true);
  return takeOf === undefined ? reply : formOfShot(reply);
}

/** Returns the form of **Enter its ID**, which asks for the id from the service's console. */
export async function lookupForm(ports: BotPorts, caller: Caller, task: Task): Promise<Reply> {
  const refusal = await mayNotDecideOn(ports, caller, task.origin);
  if (refusal !== null) return refused(refusal);
  const id = field('id', FORM_WORDS.lookup.field, { required: true });
  return formReply({ form: 'lookup', task: task.id }, FORM_WORDS.lookup, [id]);
}

/** @param takesFiles true to ask for missing or wrong reference files. Default: false. */
function orderForm(form: Omit<Form, 'fields'>, catalog: Catalog, draft: RequestDraft, takesFiles = false): Reply {
  const given = asTyped(draft);
  // An empty form has nothing to validate.
  const { request, notes }: Fitted =
    given.prompt === undefined ? { request: given, notes: {} } : fitRequest(catalog, given);
  const noted = (one: FormField) => ({ ...one, ...noteOf(notes[one.name as Refusal['option']]) });
  const settings = settingFields(catalog, request);
  const isStyle = ({ name }: FormField): boolean => name === 'style';
  const prompt = { value: request.prompt ?? '', required: true, long: true };
  const takes = { value: String(request.takes ?? ''), choices: takesChoices(catalog) };
  const onPrompt = notes.prompt ?? notes.image ?? notes.audio ?? notes.video ?? notes.style;
  const fields = [
    field('prompt', ORDER_LABELS.prompt, { ...prompt, ...noteOf(onPrompt) }),
    ...settings.filter((one) => !isStyle(one)).map(noted),
    noted(field('takes', ORDER_LABELS.takes, takes)),
    ...settings.filter(isStyle).map(noted),
  ];
  const { image = [], audio = [], video = [] } = request;
  const upload = takesFiles ? uploadOf(modelOf(catalog, request), notes) : {};
  const prices = priceFingerprint(catalog);
  return { kind: 'form', form: { ...form, fields, ...upload, media: { image, audio, video }, prices } };
}

/** Asks for wrong or missing files if the model takes any. */
function uploadOf(model: Model, notes: Fitted['notes']): Pick<Form, 'upload'> {
  for (const kind of MEDIA_KINDS) {
    const { note } = noteOf(notes[kind]);
    const { max } = model.media[kind];
    if (note !== undefined && max > 0) return { upload: { kind, label: filesLabel(kind), note, max } };
  }
  return {};
}

/** Discord's limit for a field's description. @see https://discord.com/developers/docs/components/reference#label */
const NOTE_LENGTH = 100;

function noteOf(refusal: Refusal | undefined): Pick<FormField, 'note'> {
  return refusal === undefined ? {} : { note: shorten(refusalSentence(refusal), NOTE_LENGTH) };
}

/** Request that the current catalog accepts, apart from its prompt, with the reasons for each change. */
interface Fitted {
  readonly request: RequestDraft;
  /** Reasons why a given value was refused, by option. */
  readonly notes: { readonly [Option in Refusal['option']]?: Refusal };
}

/** Replaces settings that the catalog refuses by the model's defaults; omits reference media that cannot be sent. */
function fitRequest(catalog: Catalog, given: RequestDraft): Fitted {
  const first = fitOnce(catalog, { request: given, notes: {} });
  // With an unknown model, most options were not validated.
  return first.notes.model === undefined ? first : fitOnce(catalog, first);
}

function fitOnce(catalog: Catalog, { request, notes }: Fitted): Fitted {
  const checked = checkRequest(catalog, request);
  if (checked.ok) return { request, notes };
  let fitted: Fitted = { request, notes };
  for (const refusal of checked.refusals) fitted = without(catalog, fitted, refusal);
  return fitted;
}

function without(catalog: Catalog, { request, notes }: Fitted, refusal: Refusal): Fitted {
  const { option } = refusal;
  const noted = { ...notes, [option]: refusal };
  const setting = settingNamed(option);
  if (option === 'model' || setting !== undefined) {
    const model = modelOf(catalog, request);
    const value = setting === undefined ? model.name : setting.defaultOf(model);
    return { request: { ...request, [option]: value }, notes: noted };
  }
  if (option === 'takes' || option === 'style') return { request: { ...request, [option]: undefined }, notes: noted };
  // A wrong number of files can be corrected in the form; only files that cannot be sent are omitted.
  const isKept = !isMedia(option) || (refusal.reason === 'media_count' && refusal.max > 0);
  return { request: isKept ? request : { ...request, [option]: [] }, notes: noted };
}

function isMedia(option: string): option is MediaKind {
  return (MEDIA_KINDS as readonly string[]).includes(option);
}

export async function submitForm(ports: BotPorts, caller: Caller, id: string, values: FormValues): Promise<Reply> {
  const purpose = parseForm(id);
  // The form of a panel is submitted to its command.
  if (purpose === null || purpose.form === 'panel') return refused(UNKNOWN_BUTTON);
  if (purpose.form === 'create')
    return orderFilledIn(ports, caller, { request: { ...enteredIn(values), ...mediaOf(values) } });
  if (purpose.form === 'insert') return orderInserted(ports, caller, purpose, values);
  if (purpose.form === 'storyboard') return submitStoryboard(ports, caller, values, purpose.task);
  if (purpose.form === 'fix') return orderFixed(ports, caller, values, purpose.task);
  if (purpose.form === 'deny') return submitDeny(ports, caller, purpose.task, values);
  const task = await taskHere(ports, caller, purpose.task);
  if (task === undefined) return refused(UNKNOWN_BUTTON);
  if (purpose.form === 'changes') return submitChanges(ports, caller, task, { after: purpose.after, values });
  if (purpose.form === 'lookup') return identify(ports, caller, task, values);
  if (isContentRemoved(task)) return refused(PROMPT_REMOVED);
  if (isBlind(task)) return refused(BLIND_UNTIL_REVEAL);
  const original = asTyped(draftOfRequest(task.request));
  const { image, audio, video } = original;
  const media = { image, audio, video, ...mediaOf(values) };
  const request = { ...completed(ports.catalog(), values, original), ...media };
  const question = await askBeforeShowing(ports, caller, task, request);
  return question ?? orderFilledIn(ports, caller, { request, retryOf: task.id });
}

/** Orders a storyboard from its form; a corrected one under the key of the refused one. */
async function submitStoryboard(
  ports: BotPorts,
  caller: Caller,
  values: FormValues,
  id: TaskId | null,
): Promise<Reply> {
  const { prompt: _, takes: _takes, ...entered } = enteredIn(values);
  const { chain } = values;
  const shared = chain === undefined ? entered : { ...entered, chain: chain === 'on' };
  const written = values['shots'] ?? '';
  if (id === null) return orderEntered(ports, caller, { request: shared }, written);
  const found = await draftFor(ports, caller, id);
  if ('reply' in found) return found.reply;
  const { key, replyTo, request } = found.draft;
  // A form may have no room for all of the options.
  const kept = { key, ...(replyTo === undefined ? {} : { replyTo }), request: { ...sharedIn(request), ...shared } };
  return orderEntered(ports, caller, kept, written);
}

/** Orders a corrected request under the key of the refused one, so that both create one task. */
async function orderFixed(ports: BotPorts, caller: Caller, values: FormValues, id: TaskId): Promise<Reply> {
  const found = await draftFor(ports, caller, id);
  if ('reply' in found) return found.reply;
  const { draft } = found;
  const request = { ...completed(ports.catalog(), values, asTyped(draft.request)), ...mediaOf(values) };
  return orderFilledIn(ports, caller, { ...draft, request });
}

/** Orders one more shot of a storyboard. */
async function orderInserted(
  ports: BotPorts,
  caller: Caller,
  where: { readonly task: TaskId; readonly before: number },
  values: FormValues,
): Promise<Reply> {
  const inserted = await placeInserted(ports, caller, where);
  if ('reply' in inserted) return inserted.reply;
  const { identity, next } = inserted;
  const { prompt: _, ...settings } = settingsOf(next.request);
  const request = { ...completed(ports.catalog(), values, settings), ...mediaOf(values) };
  return orderFilledIn(ports, caller, { ...identity, request });
}

/** Adds the values of the original to those of a form, which may not have a field for each, as far as they fit. */
function completed(catalog: Catalog, values: FormValues, original: RequestDraft): RequestDraft {
  const entered = enteredIn(values);
  return { ...fitRequest(catalog, { ...original, ...entered }).request, ...entered };
}

/** Orders a request from a form; each submission is a separate order unless it has a key. A shot is one clip. */
async function orderFilledIn(ports: BotPorts, caller: Caller, order: Kept): Promise<Reply> {
  const { request: entered, ...identity } = order;
  const request = identity.takeOf === undefined ? entered : { ...entered, takes: undefined };
  const checked = checkRequest(ports.catalog(), request);
  const placed = await placeOrder(ports, caller, checked, identity);
  if (placed.ok || 'offer' in placed || placed.buttons !== undefined) return placedReply(placed);
  const problems = checked.ok
    ? placed.sentences.map((sentence) => ({ field: null, sentence }))
    : refusalProblems(checked, caller.fields);
  return refuseRequest(ports, caller, { ...identity, request }, problems);
}

/** Parses the reference media of a form with fields for them: addresses separated by white space. */
function mediaOf(values: FormValues): Pick<RequestDraft, MediaKind> {
  const entered = MEDIA_KINDS.flatMap((kind) => {
    const value = values[kind];
    return value === undefined ? [] : [[kind, value.split(/\s+/).filter((address) => address !== '')] as const];
  });
  return Object.fromEntries(entered);
}

/** Returns the options that the form has a field for, apart from reference media. */
function enteredIn(values: FormValues): RequestDraft {
  const names = ['prompt', 'model', 'takes', 'style', ...SETTINGS.map(({ name }) => name)] as const;
  const entered = names.filter((name) => values[name] !== undefined);
  return Object.fromEntries(entered.map((name) => [name, values[name]] as const));
}

async function identify(ports: BotPorts, caller: Caller, task: Task, values: FormValues): Promise<Reply> {
  const id = values['id']?.trim() ?? '';
  if (id === '') return refused('Enter the ID that the service’s console shows next to the task');
  if (!/^[^\s\p{Cc}]{1,512}$/u.test(id))
    return refused(`${quoted(id)} can’t be a task’s ID. Copy it from the service’s console, without spaces.`);
  const identified = decide(ports, caller, task, 'identify', () =>
    ports.tasks.identify(task.id, caller.user, id as UpstreamId),
  );
  return identified.catch((thrown: unknown) => {
    const sentence = refusalOfId(thrown, id);
    if (sentence === null) throw thrown;
    return refused(sentence);
  });
}

/** Field of a storyboard's form for {@link import('#src/videos/request.ts').RequestDraft.chain}. */
const CHAIN_CHOICES = {
  field: 'Chain',
  title: 'Chain',
  placeholder: 'Each shot starts on its own',
  all: [
    { value: 'off', label: 'Each shot starts on its own' },
    { value: 'on', label: 'Each shot starts with the last frame of the one before' },
  ],
} as const;

/** Discord's maximum length of a label. @see https://discord.com/developers/docs/components/reference#text-input */
const LABEL_LENGTH = 45;

/** Labels the field of the model, with the models as far as they fit. */
function modelLabel({ models }: Catalog): string {
  return shorten(`${ORDER_LABELS.model}: ${models.map(({ name }) => name).join(', ')}`, LABEL_LENGTH);
}

/** Labels the field of a setting, with the model's values as far as they fit: `Length: 4, 6 or 8 s (default 4 s)`. */
function settingLabel(setting: Setting, model: Model): string {
  return shorten(`${SETTING_WORDS[setting.name].label}: ${offerWords(setting, model) || 'none'}`, LABEL_LENGTH);
}
