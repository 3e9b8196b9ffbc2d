import type { Caller, FieldProblem, GivenOptions, Reply } from './bot-port.ts';
import { problemsOf, runCommand } from './dispatch.ts';
import { changesIn, type FieldChange, fieldNamed, formFields } from './input/panel-form.ts';
import { mayOpen, type PanelField, type PanelGroup } from './input/panels.ts';
import { type BotPorts, privately, refused, refusedWith, type Subcommand } from './input/subcommand.ts';
import { subcommands } from './registry.ts';
import { administratorsOnly } from './sentences/access.ts';
import { UNKNOWN_BUTTON } from './sentences/refusals.ts';
import { button, type PanelPress } from './ui/buttons.ts';
import { blocksOf, layOut } from './ui/card.ts';
import { formReply } from './ui/form-ids.ts';

const OUTDATED = 'Someone has changed this meanwhile, so nothing was saved. Open it again to see what it is now.';

type PanelPlace = Omit<PanelPress, 'action'>;

/** A group of a panel, as a caller sees it now. */
interface OpenPanel {
  readonly subcommand: Subcommand;
  readonly group: PanelGroup;
  readonly fields: readonly PanelField[];
}

/** Opens the form of a group of options, with their values of today. */
export async function openPanel(ports: BotPorts, caller: Caller, place: PanelPlace): Promise<Reply> {
  const found = await panelAt(ports, caller, place);
  if ('refusal' in found) return found.refusal;
  const { subcommand, group, fields } = found;
  const catalog = ports.catalog();
  const words = { title: group.title, submit: 'Save' };
  return formReply({ form: 'panel', ...place }, words, formFields(subcommand.declaration, fields, catalog));
}

/**
 * Saves what a person changed in the form of a panel, by the command itself; what they did not touch is left as it is. Shows
 * what the command says.
 */
export async function submitPanel(
  ports: BotPorts,
  by: Caller,
  place: PanelPlace,
  values: Readonly<Record<string, string>>,
): Promise<Reply> {
  const caller: Caller = { ...by, surface: 'form' };
  const found = await panelAt(ports, caller, place);
  if ('refusal' in found) return found.refusal;
  const { subcommand, group, fields } = found;
  const { declaration } = subcommand;
  const { name } = declaration;
  const about = place.about === null ? {} : ((await group.subject?.(ports, caller, place.about)) ?? {});
  const changes = changesIn(declaration, fields, values);
  const subject = { ...about, ...givenBy(changes.filter(({ field }) => field.isSubject === true)) };
  const runs = runsOf(
    changes.filter(({ field }) => field.isSubject !== true),
    subject,
  );
  /** Prefers the fields of a run: two may set the same option. */
  const fieldOf = (of: readonly PanelField[], option: string | null) =>
    fieldNamed(of, values, option) ?? fieldNamed(fields, values, option);
  // Nothing is saved unless all of it may be.
  const problems = runs.flatMap(({ given, of }) =>
    problemsOf(ports, caller, subcommand, { given }).map((one) => ({
      ...one,
      field: fieldOf(of, one.field),
    })),
  );
  const outdated = changes.filter(({ isOutdated }) => isOutdated);
  const wrong = outdated.map(({ field: { option } }): FieldProblem => ({ field: option, sentence: OUTDATED }));
  wrong.push(...((await group.check?.(ports, caller, subject)) ?? []));
  problems.push(...wrong.map((one) => ({ ...one, field: fieldOf(fields, one.field) })));
  if (problems.length > 0) return inForm(refusedWith(problems), place, (field) => field);
  const untouched = runs.length === 0 && Object.keys(subject).length === 0 ? group.untouched : undefined;
  const [first = { given: untouched ?? subject, of: fields }, ...others] = runs;
  let reply = await runCommand(ports, caller, { name, given: first.given });
  const unsaved: string[] = [];
  for (const { given } of others) {
    if (reply.kind !== 'private') break;
    const next = await runCommand(ports, caller, { name, given });
    if (next.kind === 'refused') unsaved.push(next.sentence);
    else reply = next;
  }
  if (reply.kind === 'private' && unsaved.length > 0) return savedInPart(reply, unsaved.join(' '));
  return reply.kind === 'refused' ? inForm(reply, place, (option) => fieldOf(first.of, option)) : reply;
}

async function panelAt(
  ports: BotPorts,
  caller: Caller,
  { command, group: name, about }: PanelPlace,
): Promise<OpenPanel | { readonly refusal: Reply }> {
  const subcommand = subcommands.find(({ declaration }) => declaration.name === command);
  const group = new Map(Object.entries(subcommand?.panel ?? {})).get(name);
  if (subcommand === undefined || group === undefined) return { refusal: refused(UNKNOWN_BUTTON) };
  if (!mayOpen(caller, subcommand.declaration)) return { refusal: refused(administratorsOnly(caller.platform)) };
  return { subcommand, group, fields: await group.fields(ports, caller, about) };
}

function givenBy(changes: readonly FieldChange[]): GivenOptions {
  return Object.assign({}, ...changes.map(({ given }) => given)) as GivenOptions;
}

/** Options of one run of a command, with the fields that they come from. */
interface Run {
  readonly kind: string;
  given: GivenOptions;
  readonly of: PanelField[];
}

/** Returns the options of each run of a command: as few as possible, since an option is given once in each. */
function runsOf(changes: readonly FieldChange[], subject: GivenOptions): readonly Run[] {
  const runs: Run[] = [];
  for (const { field, given, isRemoval } of changes) {
    const more = { ...field.with, ...(isRemoval ? { change: ['remove'] } : {}) };
    const kind = JSON.stringify(more);
    const run = runs.find((one) => one.kind === kind && Object.keys(given).every((name) => !(name in one.given)));
    if (run === undefined) runs.push({ kind, given: { ...subject, ...more, ...given }, of: [field] });
    else {
      run.given = { ...run.given, ...given };
      run.of.push(field);
    }
  }
  return runs;
}

/** Returns a refusal by the fields of the form, with a button that opens it again where it was closed. */
function inForm(
  { sentence, problems = [] }: Extract<Reply, { readonly kind: 'refused' }>,
  place: PanelPlace,
  named: (option: string | null) => string | null,
): Reply {
  const byField = problems.map((one): FieldProblem => ({ ...one, field: named(one.field) }));
  const buttons = [button({ action: 'panel', ...place }, 'Open it again')];
  return { kind: 'refused', sentence, buttons, ...(byField.length === 0 ? {} : { problems: byField }) };
}

function savedInPart({ card }: Extract<Reply, { readonly kind: 'private' }>, sentence: string): Reply {
  const { progress, buttons } = card;
  const left = [{ strong: 'This part was not saved' }, ': ', { untrusted: sentence }] as const;
  return privately(layOut([left, ...blocksOf(card)], { progress, buttons }));
}
