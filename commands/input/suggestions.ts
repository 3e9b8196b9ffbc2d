import { setCardId } from '#src/chat/index.ts';
import { previousPeriod } from '#src/period.ts';
import { formatPrice, holdsWords, isBlind, type Price, priceOf, type Task, typedPrompt } from '#src/tasks/index.ts';
import {
  allowedStyles,
  type Catalog,
  COMPARED,
  checkRetry,
  listed,
  type Model,
  settingNamed,
} from '#src/videos/index.ts';
import type { Caller, Command, GivenOptions, OptionDeclaration, Suggestion } from '../bot-port.ts';
import { periodNow } from '../money/month.ts';
import { mayNotDecideOn } from '../policy/rules-here.ts';
import { formatMonth } from '../sentences/dates.ts';
import { formatDuration, shorten } from '../sentences/format.ts';
import { setSize } from '../sentences/ordered.ts';
import { NO_PROMPT } from '../sentences/removal.ts';
import { choiceLabel, lengthSuggestion, modelSuggestions } from '../sentences/settings.ts';
import { stateWord } from '../sentences/state-words.ts';
import { currenciesOf } from './amounts.ts';
import { nearest } from './closest-match.ts';
import { optionValue } from './options.ts';
import { commandName, permittedCommands } from './permitted-commands.ts';
import { type BotPorts, teamOf, visibleTo } from './subcommand.ts';
import { oncePerBlind, oncePerBoard, visibleAmong } from './task-lookup.ts';
import { timeZones } from './time-zones.ts';

/** Maximum per response. @see https://discord.com/developers/docs/interactions/application-commands#autocomplete */
const MAX_SUGGESTIONS = 25;
const LATEST = 100;

/** Partial input of an option, with the other options given so far. */
interface Typing {
  readonly command: string;
  readonly option: OptionDeclaration;
  readonly typed: string;
  readonly given: GivenOptions;
  /** All commands, for an option that names one. */
  readonly commands: readonly Command[];
}

/**
 * Returns autocomplete suggestions for an option: those that start with the input first, then those that contain it.
 * Numbers match by their own leading digits only, not by those of their price.
 */
export async function suggestionsFor(ports: BotPorts, caller: Caller, typing: Typing): Promise<readonly Suggestion[]> {
  const { typed, option } = typing;
  const choices = option.choices ?? (await offered(ports, caller, typing));
  const wanted = typed.trim().toLowerCase();
  const textsOf = ({ value, label, terms = [value, label] }: Suggestion): readonly string[] =>
    (option.kind === 'integer' ? [value] : terms).map((term) => term.toLowerCase());
  const begins = (one: Suggestion): boolean => textsOf(one).some((text) => text.startsWith(wanted));
  const holds = (one: Suggestion): boolean =>
    option.kind !== 'integer' && textsOf(one).some((text) => holdsWords(text, wanted));
  const others = choices.filter((one) => !begins(one) && holds(one));
  return [...choices.filter(begins), ...others].slice(0, MAX_SUGGESTIONS);
}

function offered(
  ports: BotPorts,
  caller: Caller,
  typing: Typing,
): readonly Suggestion[] | Promise<readonly Suggestion[]> {
  const catalog = ports.catalog();
  const model = modelGiven(catalog, typing.given);
  switch (typing.option.autocomplete ?? null) {
    case 'model':
      return modelSuggestions(catalog, optionValue(typing.given, 'seconds'));
    case 'models':
      return modelsSuggestions(catalog, typing.typed);
    case 'setting':
      return settingSuggestions(model, typing.option.name);
    case 'style':
      return styleSuggestions(catalog, typing.command);
    case 'reference':
      return referenceSuggestions(catalog, typing.typed);
    case 'task':
      return taskSuggestions(ports, caller, TASK_LISTS[typing.command] ?? 'all');
    case 'open_task':
      return taskSuggestions(ports, caller, 'open');
    case 'command':
      return commandSuggestions(ports, caller, typing);
    case 'month':
      return monthSuggestions(ports, caller);
    case 'time_zone':
      return timeZones().map((zone) => ({ value: zone, label: zone, terms: [zone, zone.replaceAll('_', ' ')] }));
    case 'currency':
      return currenciesOf(catalog).map((currency) => ({ value: currency, label: currency }));
    case 'until':
      return UNTIL.map((value) => ({ value, label: value }));
    case null:
      return [];
  }
}

/** Durations of a pause that are suggested. */
const UNTIL = ['1 hour', '4 hours', '1 day', '3 days', '1 week'] as const;

/** Returns the model named so far, or the default, which determines the lengths and sizes to choose from. */
function modelGiven({ models, defaultModel }: Catalog, given: GivenOptions): Model {
  const name = optionValue(given, 'model')?.toLowerCase();
  return models.find((model) => model.name.toLowerCase() === name) ?? defaultModel;
}

/** Longest value, and label, of a suggestion. @see https://docs.discord.com/developers/interactions/application-commands */
const MAX_VALUE_LENGTH = 100;

/** Completes the last name of a list: `swift-1,ep` → `swift-1,epic-pro`. */
function modelsSuggestions({ models }: Catalog, typed: string): readonly Suggestion[] {
  const names = typed.split(',').map((name) => name.trim().toLowerCase());
  const last = names.pop() ?? '';
  const before = models.filter(({ name }) => names.includes(name.toLowerCase())).map(({ name }) => name);
  if (before.length < names.length || before.length >= COMPARED.max) return [];
  const lists = models
    .filter(({ name }) => !before.includes(name) && name.toLowerCase().startsWith(last))
    .map(({ name }) => [...before, name].join(','));
  return lists
    .map((value) => ({ value, label: value, terms: [typed] }))
    .filter(({ value }) => value.length <= MAX_VALUE_LENGTH);
}

/** Returns the styles of the team; for an order those that are allowed. */
function styleSuggestions(catalog: Catalog, command: string): readonly Suggestion[] {
  const isOrder = ['create', 'storyboard', 'compare'].includes(command);
  const styles = isOrder ? allowedStyles(catalog) : (catalog.styles ?? []);
  return styles.map(({ name }) => ({ value: name, label: name }));
}

/** Completes the last of several links with the names of the team's images: `https://a.test/1.png @mu` → `… @mug`. */
function referenceSuggestions({ references = [] }: Catalog, typed: string): readonly Suggestion[] {
  const [, before = '', last = ''] = /^(.*[\s,]|)([^\s,]*)$/su.exec(typed) ?? [];
  const begun = last.toLowerCase().replace(/^@/u, '');
  return references
    .filter(({ name }) => name.startsWith(begun))
    .map(({ name }) => ({ value: `${before}@${name}`, label: `${before}@${name}`, terms: [typed.trim()] }))
    .filter(({ value }) => value.length <= MAX_VALUE_LENGTH);
}

function settingSuggestions(model: Model, option: string): readonly Suggestion[] {
  const setting = settingNamed(option);
  if (setting === undefined) return [];
  const values = listed(setting.offerOf(model)) ?? [];
  return values.map((value) =>
    setting.name === 'seconds'
      ? lengthSuggestion(model, Number(value))
      : { value: String(value), label: choiceLabel(setting, model, value) },
  );
}

/** Lists of tasks that commands suggest. Default: all. */
const TASK_LISTS: Readonly<Record<string, 'status' | 'retry'>> = { status: 'status', retry: 'retry' };

/** @param which `retry`: with the price of another take by the current catalog; `status`: with the boards of storyboards */
async function taskSuggestions(
  ports: BotPorts,
  caller: Caller,
  which: 'all' | 'open' | 'retry' | 'status',
): Promise<readonly Suggestion[]> {
  const found =
    which === 'open'
      ? await cancellable(ports, caller)
      : await ports.tasks.history(visibleTo(caller), { offset: 0, limit: LATEST });
  const visible = visibleAmong(caller, found);
  const seen = which === 'retry' ? visible.filter((task) => !isBlind(task)) : oncePerBlind(visible);
  const catalog = ports.catalog();
  const boards = which === 'status' ? oncePerBoard(seen) : [];
  return seen.flatMap((task) => [
    ...(boards.includes(task) ? boardSuggestion(task, ports.clock.now()) : []),
    taskSuggestion(task, ports.clock.now(), which === 'retry' ? retryPrice(catalog, task) : null),
  ]);
}

/** Suggests a task: `red fox running · done · 3 h ago`, with the price of another take unless `null`. */
function taskSuggestion(task: Task, nowMs: number, price: Price | null): Suggestion {
  const age = `${formatDuration(nowMs - task.createdAtMs)} ago`;
  const cost = price === null ? [] : [formatPrice(price)];
  const prompt = task.request.prompt === '' ? NO_PROMPT : typedPrompt(task.request);
  const state = isBlind(task) ? 'comparison' : stateWord(task);
  const facts = [shorten(prompt, cost.length === 0 ? 60 : 45), state, age, ...cost];
  return { value: task.id, label: facts.join(' · ') };
}

/** Suggests the storyboard of a shot: `Storyboard of 3 shots · it runs · 3 h ago`; nothing for another task. */
function boardSuggestion(task: Task, nowMs: number): readonly Suggestion[] {
  const { takeOf, set = takeOf } = task;
  if (set?.kind !== 'storyboard') return [];
  const age = `${formatDuration(nowMs - task.createdAtMs)} ago`;
  const facts = [`Storyboard of ${setSize(set)}`, shorten(typedPrompt(task.request) || NO_PROMPT, 45), age];
  return [{ value: setCardId(set.id), label: facts.join(' · ') }];
}

function retryPrice(catalog: Catalog, { request }: Task): Price | null {
  const checked = checkRetry(catalog, request);
  return checked.ok ? priceOf(checked.model, checked.request.seconds) : null;
}

/** Returns the open tasks that the caller may cancel: their own, and those of a channel where they may decide. */
async function cancellable(ports: BotPorts, caller: Caller): Promise<readonly Task[]> {
  const { tasks } = ports;
  const team = teamOf(caller);
  const [own, here] = await Promise.all([
    tasks.open({ ...team, user: caller.user.id }, LATEST),
    (await mayDecideHere(ports, caller)) ? tasks.open({ ...team, channel: caller.channel }, LATEST) : [],
  ]);
  const each = new Map([...own, ...here].map((task) => [task.id, task]));
  return [...each.values()].sort((one, other) => other.createdAtMs - one.createdAtMs).slice(0, LATEST);
}

/** Returns whether the caller may decide on the tasks of others in their channel. Rejects with `store_unavailable`. */
async function mayDecideHere(ports: BotPorts, caller: Caller): Promise<boolean> {
  const nobody = { id: '', name: '' };
  return (await mayNotDecideOn(ports, caller, { ...caller, user: nobody })) === null;
}

/** Returns the current month in the team's time zone and the eleven before it. */
async function monthSuggestions(ports: BotPorts, caller: Caller): Promise<readonly Suggestion[]> {
  const { period } = await periodNow(ports, caller);
  const months = [period];
  while (months.length < 12) months.push(previousPeriod(months.at(-1) ?? period));
  return months.map((month) => ({ value: month, label: formatMonth(month) }));
}

/** Returns the commands that the caller may run, by what was typed of the name; for a misspelling, the one meant. */
async function commandSuggestions(
  ports: BotPorts,
  caller: Caller,
  { commands, typed }: Typing,
): Promise<readonly Suggestion[]> {
  const { commands: permitted } = await permittedCommands(ports, caller, commands);
  const wanted = commandName(typed);
  const holding = permitted.filter(({ name }) => name.includes(wanted));
  const near = nearest(
    wanted,
    permitted.map(({ name }) => name),
  );
  const found = holding.length > 0 ? holding : permitted.filter(({ name }) => name === near);
  const ordered = [
    ...found.filter(({ name }) => name.startsWith(wanted)),
    ...found.filter(({ name }) => !name.startsWith(wanted)),
  ];
  // Matched above, where a misspelling counts, too.
  return ordered.map(({ name, description }) => ({
    value: name,
    label: shorten(`${name} · ${description}`, MAX_VALUE_LENGTH),
    terms: [typed.trim()],
  }));
}
