import { formatPrice, priceOf } from '#src/money/price.ts';
import { type Catalog, defaultResolution, defaultSeconds, type Model, secondsOffered } from '#src/videos/model.ts';
import type { Caller, GivenOptions, OptionDeclaration, Suggestion } from './command.ts';
import { optionValue } from './options.ts';
import { monthOf } from './sentences/format.ts';
import { modelSuggestion, monthSuggestion, taskSuggestion, withDefaultMark } from './sentences/suggestions.ts';
import { type BotPorts, teamOf } from './subcommand.ts';

/** Platforms show no more. @see https://discord.com/developers/docs/interactions/application-commands#autocomplete */
const MOST = 25;
const LATEST = 100;

/** What is being typed, and what was given so far. */
export interface Typing {
  readonly option: OptionDeclaration;
  readonly typed: string;
  readonly given: GivenOptions;
}

/** What to offer for an option while somebody types it: what begins with it first, then what holds it. */
export async function suggestionsFor(ports: BotPorts, caller: Caller, typing: Typing): Promise<readonly Suggestion[]> {
  const { typed, option } = typing;
  const choices = option.choices ?? (await offered(ports, caller, typing));
  const wanted = typed.trim().toLowerCase();
  const begins = ({ value, label }: Suggestion): boolean =>
    value.toLowerCase().startsWith(wanted) || label.toLowerCase().startsWith(wanted);
  const fitting = choices.filter((one) => one.value.includes(wanted) || one.label.toLowerCase().includes(wanted));
  return [...fitting.filter(begins), ...fitting.filter((one) => !begins(one))].slice(0, MOST);
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
      return catalog.models.map((one) => modelSuggestion(one, one === catalog.defaultModel));
    case 'seconds':
      return secondsSuggestions(model);
    case 'aspect':
      return model.aspectRatios.map((value, index) => ({ value, label: withDefaultMark(value, index === 0) }));
    case 'resolution':
      return model.resolutions.map((value) => ({
        value,
        label: withDefaultMark(value, value === defaultResolution(model)),
      }));
    case 'task':
      return taskSuggestions(ports, caller, 'all');
    case 'open_task':
      return taskSuggestions(ports, caller, 'open');
    case 'month':
      return monthSuggestions(ports.clock.now());
    case null:
      return [];
  }
}

/** The model named so far, or the default: its lengths and sizes are those to choose from. */
function modelGiven({ models, defaultModel }: Catalog, given: GivenOptions): Model {
  const name = optionValue(given, 'model')?.toLowerCase();
  return models.find((model) => model.name.toLowerCase() === name) ?? defaultModel;
}

function secondsSuggestions(model: Model): readonly Suggestion[] {
  return secondsOffered(model).map((seconds) => ({
    value: String(seconds),
    label: withDefaultMark(`${seconds} s · ${formatPrice(priceOf(model, seconds))}`, seconds === defaultSeconds(model)),
  }));
}

/** Somebody cancels their own clips, unless they manage the channel. */
async function taskSuggestions(ports: BotPorts, caller: Caller, which: 'all' | 'open'): Promise<readonly Suggestion[]> {
  const team = teamOf(caller);
  const own = { ...team, user: caller.user.id };
  const found =
    which === 'all'
      ? await ports.tasks.history(team, { offset: 0, limit: LATEST })
      : await ports.tasks.open(caller.mayManage ? team : own, LATEST);
  return found.map((task) => taskSuggestion(task, ports.clock.now()));
}

function monthSuggestions(nowMs: number): readonly Suggestion[] {
  const now = new Date(nowMs);
  return Array.from({ length: 12 }, (_, ago) =>
    monthSuggestion(monthOf(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago))),
  );
}
