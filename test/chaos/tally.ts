import type { BudgetAmounts } from '#src/engine/store/store.ts';
import { microsOf, sumsOf } from '#src/tasks/money.ts';
import type { Task } from '#src/tasks/task.ts';
import { limitOf } from './check/limits.ts';
import type { PlannedDeed } from './deeds.ts';
import type { History } from './history.ts';
import type { Plan, PlannedOrder } from './plan.ts';
import { PROFILES, type Profile } from './profiles.ts';
import type { Ordered } from './sets.ts';

/** What a series draws of the studio, by the words of its summary. */
const KINDS = [
  'takes',
  'storyboards',
  'comparisons',
  'shots made again',
  'boards edited',
  'cuts',
  'votes',
  'reveals',
  'blind clips made again',
  'reviews',
] as const;
export type Kind = (typeof KINDS)[number];

const PLATFORMS = ['playground', 'discord', 'slack'] as const;
type PlatformName = (typeof PLATFORMS)[number];

/** What services do beyond our contract, and without it, by the words of the summary. */
const EVENTS = [
  'lists that were late',
  'further pages of a list',
  "strangers' tasks alike",
  'lost creates found in a list',
  'cancels done',
  'cancels done, answer lost',
  'cancels lost, completed all the same',
  'cancels that raced the start',
  'cancels that raced the completion',
  'costs below the price',
  'costs above the price',
  'costs above a budget',
  'failures that are billed',
  'frames in the request',
  'requests with a withdrawn key',
] as const;
export type Event = (typeof EVENTS)[number];

/** Number of runs from which a kind that never succeeded is a shortfall of the series. */
const SERIES = 20;

/** Number of times that a kind was drawn, and that it succeeded. */
interface Count {
  readonly drawn: number;
  readonly done: number;
}

/** Run as far as it is counted. */
export interface Counted {
  readonly plan: Pick<Plan, 'orders'>;
  readonly history: { readonly store: Pick<History['store'], 'tasks' | 'boards' | 'cuts' | 'comparisons'> };
}

const SETS: Partial<Readonly<Record<Ordered, Kind>>> = {
  takes: 'takes',
  storyboard: 'storyboards',
  comparison: 'comparisons',
};
const DEEDS: Partial<Readonly<Record<PlannedDeed['action'], Kind>>> = {
  shot: 'boards edited',
  join: 'cuts',
  vote: 'votes',
  reveal: 'reveals',
  remake: 'blind clips made again',
  signoff: 'reviews',
  changes: 'reviews',
};

/** Counts what runs drew of a kind on a platform, and what succeeded. */
export function countOf(runs: readonly Counted[], kind: Kind, platform: PlatformName): Count {
  const orders = runs.flatMap(({ plan }) => plan.orders.filter((order) => order.platform === platform));
  const drawn = orders.flatMap(kindsOf).filter((one) => one === kind).length;
  const done = runs.reduce((sum, { history }) => sum + doneIn(history.store, kind, platform), 0);
  return { drawn, done };
}

function kindsOf({ ordered, deeds }: PlannedOrder): readonly (Kind | undefined)[] {
  const retried = ordered === 'storyboard' ? 'shots made again' : undefined;
  return [SETS[ordered], ...deeds.map(({ action }) => (action === 'retry' ? retried : DEEDS[action]))];
}

function doneIn(
  { tasks, boards, cuts, comparisons }: Counted['history']['store'],
  kind: Kind,
  platform: PlatformName,
): number {
  const own = [...tasks.values()].filter(({ origin }) => origin.platform === platform);
  const sets = (of: NonNullable<Task['set']>['kind']) =>
    own.filter(({ set }) => set?.kind === of && set.at === 1).length;
  const again = (of: NonNullable<Task['set']>['kind']) => own.filter(({ takeOf }) => takeOf?.kind === of).length;
  const compared = [...comparisons.values()].filter((one) => 'votes' in one && one.platform === platform);
  switch (kind) {
    case 'takes':
      return sets('takes');
    case 'storyboards':
      return sets('storyboard');
    case 'comparisons':
      return sets('comparison');
    case 'shots made again':
      return again('storyboard');
    case 'blind clips made again':
      return again('comparison');
    case 'boards edited':
      return own.filter(({ id }) => boards.has(id)).length;
    case 'cuts':
      return [...cuts.values()].filter(({ origin, state }) => origin.platform === platform && state === 'joined')
        .length;
    case 'votes':
      return compared.reduce((sum, { votes, revealed }) => sum + votesIn(votes, revealed?.tally), 0);
    case 'reveals':
      return compared.filter(({ revealed }) => revealed !== undefined).length;
    case 'reviews':
      return own.reduce((sum, { review = [] }) => sum + review.length, 0);
  }
}

function votesIn(votes: Readonly<Record<string, number>>, tally: readonly number[] | undefined): number {
  return tally?.reduce((sum, one) => sum + one, 0) ?? Object.keys(votes).length;
}

/** Run as far as its events are counted. */
export interface Eventful {
  readonly plan: { readonly service: Pick<Profile, 'name'> };
  readonly history: Pick<History, 'events' | 'lives' | 'commits'>;
}

/** Counts the events of a run. */
export function countEvents({ history: { events, lives, commits } }: Eventful): ReadonlyMap<Event, number> {
  const found = lives.reduce((sum, { output }) => sum + output.split('"event":"lost_create_found"').length - 1, 0);
  const counted: readonly (readonly [Event, number])[] = [
    ...events,
    ['lost creates found in a list', found],
    ...costsIn(commits),
  ];
  return new Map(counted.filter(([, times]) => times > 0));
}

/** Counts the costs that a service reported, by what was reserved and budgeted for them at that moment. */
function costsIn(commits: History['commits']): readonly (readonly [Event, number])[] {
  const counts = new Map<Event, number>();
  const budgets = new Map<string, BudgetAmounts>();
  const seen = new Set<string>();
  const count = (event: Event): void => void counts.set(event, (counts.get(event) ?? 0) + 1);
  for (const write of commits.flat()) {
    if (write.of === 'budget') budgets.set(write.key, write.value ?? { hard: {} });
    const task = write.of === 'task' ? write.value : null;
    const send = task?.money?.sends.at(-1);
    if (task === null || send?.listed === undefined || seen.has(`${write.key}#${send.atMs}`)) continue;
    seen.add(`${write.key}#${send.atMs}`);
    count(Number(send.amount) < Number(send.listed) ? 'costs below the price' : 'costs above the price');
    const limits = Object.values(sumsOf(task.origin, send)).map((sum) => limitOf(sum, task, send, budgets));
    if (limits.some((limit) => limit !== null && microsOf(send.amount) > limit)) count('costs above a budget');
  }
  return [...counts];
}

/** Describes the events of one run, in one phrase; empty for nothing. */
export function eventsIn(run: Eventful): readonly string[] {
  const counts = [...countEvents(run)].map(([event, times]) => `${times} ${event}`);
  return counts.length === 0 ? [] : [counts.join(', ')];
}

/**
 * Summarises the profiles of a series: the number of runs of each, and how often each event happened. In a long series, a
 * profile that was not drawn, or an event that never happened, is a shortfall.
 */
export function profilesOf(runs: readonly Eventful[]): string {
  const counts = runs.map((run) => ({ name: run.plan.service.name, events: countEvents(run) }));
  const drawn = PROFILES.map((name) => [name, counts.filter((one) => one.name === name)] as const);
  const timesOf = (of: typeof counts, event: Event): number =>
    of.reduce((sum, { events }) => sum + (events.get(event) ?? 0), 0);
  const rows = EVENTS.map((event) => `| ${event} | ${drawn.map(([, of]) => timesOf(of, event)).join(' | ')} |\n`);
  const missing = [
    ...drawn.flatMap(([name, of]) => (of.length === 0 ? [`profile ${name}`] : [])),
    ...EVENTS.filter((event) => timesOf(counts, event) === 0),
  ];
  const head = `| profile | ${PROFILES.join(' | ')} |\n| --- |${' --- |'.repeat(PROFILES.length)}\n`;
  const ran = `| runs | ${drawn.map(([, of]) => of.length).join(' | ')} |\n`;
  const shortfall =
    runs.length < SERIES || missing.length === 0 ? '' : `shortfall, never happened: ${missing.join(', ')}\n`;
  return `\n${head}${ran}${rows.join('')}${shortfall}`;
}

/** Describes what succeeded in one run, in one phrase; empty for nothing. */
export function studioIn(run: Counted): readonly string[] {
  const counts = KINDS.flatMap((kind) => {
    const done = PLATFORMS.reduce((sum, platform) => sum + countOf([run], kind, platform).done, 0);
    return done === 0 ? [] : [`${done} ${kind}`];
  });
  return counts.length === 0 ? [] : [counts.join(', ')];
}

/**
 * Summarises a series: how much of each kind succeeded of what was drawn, by platform. In a long series, a kind that never
 * succeeded on a platform that took part is named as a shortfall: its checks have shown nothing.
 */
export function tallyOf(runs: readonly Counted[]): string {
  const present = PLATFORMS.filter((name) => runs.some(({ plan }) => plan.orders.some((one) => one.platform === name)));
  const rows = KINDS.map((kind) => {
    const cells = present
      .map((platform) => countOf(runs, kind, platform))
      .map(({ drawn, done }) => `${done} of ${drawn}`);
    return `| ${kind} | ${cells.join(' | ')} |\n`;
  });
  const missing = KINDS.flatMap((kind) =>
    present.filter((platform) => countOf(runs, kind, platform).done === 0).map((platform) => `${kind} (${platform})`),
  );
  const head = `| succeeded of drawn | ${present.join(' | ')} |\n| --- |${' --- |'.repeat(present.length)}\n`;
  const shortfall =
    runs.length < SERIES || missing.length === 0 ? '' : `shortfall, never succeeded: ${missing.join(', ')}\n`;
  return `${head}${rows.join('')}${shortfall}`;
}
