import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Task } from '#src/tasks/task.ts';
import type { Trouble, Violation } from './history.ts';
import type { Plan } from './plan.ts';
import type { Ran } from './run.ts';
import { eventsIn, profilesOf, studioIn, tallyOf } from './tally.ts';

/** Number of violations of one name that are listed in full. */
const LISTED = 4;

/** Summarizes a run in a few lines. */
export function rowOf(ran: Ran): string {
  const { plan, history, violations, tookMs, restedMs } = ran;
  const { creates, made, lives, troubles, store } = history;
  const states = [...Map.groupBy(store.tasks.values(), ({ state }) => state)].map(
    ([state, tasks]) => `${tasks.length} ${state}`,
  );
  const head = [
    `seed ${plan.seed}`,
    `${plan.store} ×${plan.replicas}${plan.replicas > 1 && plan.sharesFolder ? ' (shared folder)' : ''}`,
    `${plan.service.name} (${plan.service.dialect})`,
    `${plan.orders.length} asked, ${creates.length} POSTs, ${made.length} created; ${states.join(', ')}`,
    ...(history.asked.some(({ platform }) => platform === 'slack') ? [`Slack by ${plan.slackBy}`] : []),
    ...requestsIn([...store.tasks.values()]),
    ...studioIn(ran),
    ...eventsIn(ran),
    `${[...store.tasks.values()].filter(({ removal }) => removal !== undefined).length} deleted`,
    `${lives.length} processes`,
    `${(tookMs / 1000).toFixed(1)} s (rest after ${(restedMs / 1000).toFixed(1)} s)`,
    violations.length === 0 ? 'ok' : `${violations.length} VIOLATIONS`,
  ].join(' · ');
  return `${head}\n    ${troubles.map(describeTrouble).join(', ') || 'nothing went wrong'}\n${violations.length === 0 ? '' : listOf(violations)}`;
}

function describeTrouble({ kind, replica, fromMs, untilMs, remark }: Trouble): string {
  const target = replica === null ? '' : ` ${replica}`;
  return `${kind}${target} ${(fromMs / 1000).toFixed(1)}–${(untilMs / 1000).toFixed(1)}${remark === '' ? '' : ` (${remark})`}`;
}

function listOf(violations: readonly Violation[]): string {
  return [...Map.groupBy(violations, ({ name }) => name)]
    .map(([name, those]) => {
      const some = those.slice(0, LISTED).map(({ what }) => `      ${what}\n`);
      const more = those.length > LISTED ? `      … and ${those.length - LISTED} more\n` : '';
      return `    ${those[0]?.isWarning === true ? 'warning: ' : ''}${name} (${those.length})\n${some.join('')}${more}`;
    })
    .join('');
}

/** Describes the requests for approval among tasks; empty without any. */
function requestsIn(tasks: readonly Task[]): readonly string[] {
  const requests = tasks.filter(({ approval }) => approval !== undefined);
  const approved = requests.filter((task) => task.approval?.approved !== undefined).length;
  const ends = Map.groupBy(
    requests.flatMap(({ declined }) => (declined === undefined ? [] : [declined])),
    ({ how }) => how,
  );
  const counted = [...ends].map(([how, those]) => `, ${those.length} ${how}`).join('');
  return requests.length === 0 ? [] : [`${requests.length} requests, ${approved} approved${counted}`];
}

/** Returns the command that repeats a run. */
export function commandOf({ seed, store, replicas, interactions, faults, service }: Plan): string {
  const flags = [
    `--seed ${seed} --runs 1 --store ${store} --replicas ${replicas} --profile ${service.name}`,
    `--interactions ${interactions} --faults ${faults.join(',') || 'none'}`,
  ];
  return `    again: npm run chaos -- ${flags.join(' ')}\n`;
}

/** Summarizes all runs as a table of violations by name. */
export function summaryOf(ran: readonly Ran[]): string {
  const all = ran.flatMap(({ plan, violations }) => violations.map((violation) => ({ ...violation, seed: plan.seed })));
  const rows = [...Map.groupBy(all, ({ name }) => name)].map(([name, those]) => {
    const seeds = [...new Set(those.map(({ seed }) => seed))].sort((a, b) => a - b);
    return `| ${name}${those[0]?.isWarning === true ? ' (warning)' : ''} | ${those.length} | ${seeds.join(', ')} |\n`;
  });
  const sum = (count: (one: Ran) => number): number => ran.reduce((total, one) => total + count(one), 0);
  const faults = Map.groupBy(
    ran.flatMap(({ history }) => history.troubles),
    ({ kind }) => kind,
  );
  const counted = [...faults].map(([kind, those]) => `${those.length} ${kind}`).join(', ');
  const clean = ran.filter(({ violations }) => violations.length === 0).length;
  return [
    `\n${ran.length} runs, ${clean} without a word · ${sum(({ plan }) => plan.orders.length)} interactions, `,
    `${sum(({ history }) => history.creates.length)} POSTs, ${sum(({ history }) => history.made.length)} creates · ${counted}\n`,
    `${requestsIn(ran.flatMap(({ history }) => [...history.store.tasks.values()])).join('') || 'no requests'}\n`,
    tallyOf(ran),
    profilesOf(ran),
    ...(rows.length === 0 ? [] : ['| violation | times | seeds |\n| --- | --- | --- |\n', ...rows]),
  ].join('');
}

/** Writes the full record of a run to a folder, for debugging. */
export async function keep({ plan, history, violations }: Ran, folder: string): Promise<void> {
  const own = join(folder, `seed-${plan.seed}`);
  await mkdir(own, { recursive: true });
  for (const { replica, life, output } of history.lives) await writeFile(join(own, `${replica}.${life}.log`), output);
  const lives = history.lives.map(({ output: _printed, ...life }) => life);
  const plain = (_key: string, value: unknown): unknown => {
    if (typeof value === 'bigint') return String(value);
    return value instanceof Map ? Object.fromEntries(value) : value;
  };
  await writeFile(
    join(own, 'history.json'),
    JSON.stringify({ plan, violations, history: { ...history, lives } }, plain, 1),
  );
}
