import { DailiesError } from '#src/errors.ts';
import type { Task, TaskId } from '#src/tasks/task.ts';
import type { Catalog } from '#src/videos/model.ts';
import type { RequestDraft } from '#src/videos/request.ts';
import type { UpstreamId } from '#src/videos/service.ts';
import { formId, mayDecide, parseForm } from './buttons.ts';
import type { Caller, Form, Reply } from './command.ts';
import { decide } from './decisions.ts';
import { taskHere } from './finding.ts';
import { type OrderIdentity, orderDraft } from './ordering.ts';
import { FORM_WORDS, settingLabels } from './sentences/forms.ts';
import { mayNot, notAnUpstreamId, promptKept, UNKNOWN_BUTTON, unknownUpstreamId } from './sentences/refusals.ts';
import { type BotPorts, refused } from './subcommand.ts';

/** What somebody filled in, by field. */
export type FormValues = Readonly<Record<string, string>>;

/** The form of a bare `/video`: nothing filled in, so that a prompt alone is enough. */
export function createForm(catalog: Catalog): Reply {
  return orderForm({ id: formId({ form: 'create' }), ...FORM_WORDS.create }, catalog, {});
}

/** The form of Edit & retry: everything filled in as it was. */
export function editForm(catalog: Catalog, { id, request }: Task): Reply {
  const { model, prompt, seconds, aspectRatio: aspect, resolution } = request;
  const filledIn = { model, prompt, seconds: String(seconds), aspect, resolution };
  return orderForm({ id: formId({ form: 'edit', task: id }), ...FORM_WORDS.edit }, catalog, filledIn);
}

/** The form of Look it up: the id from the service's console. */
export function lookupForm(caller: Caller, task: Task): Reply {
  if (!mayDecide(caller, task.origin)) return refused(mayNot(task.origin.user, null));
  const field = { name: 'id', label: FORM_WORDS.lookup.field, value: '', required: true, long: false };
  const { title, submit } = FORM_WORDS.lookup;
  return { kind: 'form', form: { id: formId({ form: 'lookup', task: task.id }), title, submit, fields: [field] } };
}

function orderForm(
  form: Omit<Form, 'fields'>,
  catalog: Catalog,
  values: { readonly [Field in 'prompt' | 'model' | 'seconds' | 'aspect' | 'resolution']?: string | undefined },
): Reply {
  const model = catalog.models.find(({ name }) => name === values.model) ?? catalog.defaultModel;
  const labels = settingLabels(catalog, model);
  const setting = (name: keyof typeof labels) => ({
    name,
    label: labels[name],
    value: values[name] ?? '',
    required: name === 'prompt',
    long: name === 'prompt',
  });
  const fields = [setting('prompt'), setting('model'), setting('seconds'), setting('aspect'), setting('resolution')];
  return { kind: 'form', form: { ...form, fields } };
}

/** Does what a form was sent for. */
export async function submitForm(ports: BotPorts, caller: Caller, id: string, values: FormValues): Promise<Reply> {
  const purpose = parseForm(id);
  if (purpose === null) return refused(UNKNOWN_BUTTON);
  if (purpose.form === 'create') return orderFilledIn(ports, caller, values, {});
  const task = await taskHere(ports, caller, purpose.task);
  if (task === undefined) return refused(UNKNOWN_BUTTON);
  if (purpose.form === 'lookup') return identify(ports, caller, task, values);
  return orderFilledIn(ports, caller, values, { media: task.request.media, retryOf: task.id });
}

/** Orders under the submission's own id: each sending of a form is a wish of its own. */
async function orderFilledIn(
  ports: BotPorts,
  caller: Caller,
  values: FormValues,
  original: { readonly media?: Task['request']['media']; readonly retryOf?: TaskId },
): Promise<Reply> {
  const { prompt, model, seconds, aspect, resolution } = values;
  const draft: RequestDraft = { prompt, model, seconds, aspect, resolution, ...original.media };
  const identity: OrderIdentity = original.retryOf === undefined ? {} : { retryOf: original.retryOf };
  const reply = await orderDraft(ports, caller, draft, identity);
  // The form is closed, and with it what was typed.
  const typed = prompt?.trim() ?? '';
  if (reply.kind !== 'refused' || typed === '') return reply;
  return refused(reply.sentence, promptKept(typed));
}

async function identify({ tasks }: BotPorts, caller: Caller, task: Task, values: FormValues): Promise<Reply> {
  const id = values['id']?.trim() ?? '';
  if (!/^[^\s\p{Cc}]{1,512}$/u.test(id)) return refused(notAnUpstreamId(id));
  const identified = decide(caller, task, 'identify', () => tasks.identify(task.id, caller.user, id as UpstreamId));
  return identified.catch((thrown: unknown) => {
    if (thrown instanceof DailiesError && thrown.code === 'task_unknown') return refused(unknownUpstreamId(id));
    throw thrown;
  });
}
