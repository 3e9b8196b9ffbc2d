import { momentOf } from '#src/money/index.ts';
import { type Pause, pauseAt } from '#src/teams/index.ts';
import type { Caller, OptionDeclaration, Reply } from '../bot-port.ts';
import { isSet, optionValue } from '../input/options.ts';
import { type BotPorts, byCommand, privately, refused, type Subcommand, teamOf } from '../input/subcommand.ts';
import { nameOf } from '../sentences/command-name.ts';
import { quoted } from '../sentences/format.ts';
import { REASON_LENGTH } from '../sentences/pause.ts';
import { facts, layOut, lineOf, small } from '../ui/card.ts';

const options: readonly OptionDeclaration[] = [
  {
    name: 'reason',
    description: 'Why; everyone who orders a clip reads it. off ends the pause',
    kind: 'text',
    positional: true,
    maxLength: REASON_LENGTH,
  },
  {
    name: 'until',
    description: 'When it ends, such as 2h, 14:00 or 2026-11-30',
    kind: 'text',
    autocomplete: 'until',
    maxLength: 100,
    range: 'a duration, time or day such as 2h, 14:00 or 2026-11-30',
    defaultWords: 'until you end it',
  },
  { name: 'off', description: 'Ends the pause', kind: 'flag' },
];

/** `/video pause`: stops the orders of a team, or allows them again. */
export const pause: Subcommand = {
  declaration: {
    name: 'pause',
    description: 'Stops new orders of the team, or ends that; what was ordered goes on, unsent shots too',
    example: '/video pause over this month’s plan --until 2026-12-01',
    options,
    visibility: 'private',
    isAdministrative: true,
  },
  run: async (ports, caller, given) => {
    const reason = optionValue(given, 'reason');
    const until = optionValue(given, 'until');
    if (isSet(given, 'off') || reason?.toLowerCase() === 'off') return resume(ports, caller);
    if (reason === undefined && until === undefined) return show(ports, caller, null);
    if (reason === undefined)
      return refused('reason: say why, such as: we are over this month’s plan. Everyone who orders a clip reads it.');
    const { timeZone } = await ports.settings.get(teamOf(caller));
    const nowMs = ports.clock.now();
    const untilMs = until === undefined ? undefined : momentOf(until, timeZone, nowMs);
    // It stops first: a wrong end is asked about afterwards.
    const isEnd = untilMs !== undefined && untilMs !== null && untilMs > nowMs;
    const wanted: Pause = { reason, by: caller.user, atMs: nowMs, ...(isEnd ? { untilMs } : {}) };
    await ports.settings.change(teamOf(caller), byCommand(caller), { pause: wanted });
    if (until === undefined || isEnd) return show(ports, caller, 'paused');
    const wrong = `${quoted(until, 40)} ${untilMs === null ? 'isn’t a time' : 'is over already'}`;
    const problem = `The pause has no end: ${wrong}. Write 2h, 3 days, 14:00, 2026-11-30 or 2026-11-30 14:00.`;
    return show(ports, caller, 'paused', problem);
  },
};

async function resume(ports: BotPorts, caller: Caller): Promise<Reply> {
  const before = pauseAt(await ports.settings.get(teamOf(caller)), ports.clock.now());
  await ports.settings.change(teamOf(caller), byCommand(caller), { pause: null });
  return show(ports, caller, before === null ? 'not_paused' : 'resumed');
}

/** Outcome of `/video pause`; `null`: nothing was to be changed. */
type PauseOutcome = 'paused' | 'resumed' | 'not_paused' | null;

const NOT_PAUSED: Readonly<Record<Exclude<PauseOutcome, null> | 'asked', string>> = {
  resumed: 'Spending goes on: clips can be ordered again.',
  not_paused: 'Spending isn’t paused. Nothing was changed.',
  paused: 'Spending was paused, and the pause has ended already.',
  asked: 'Spending isn’t paused.',
};

/**
 * Shows whether the team's spending is paused.
 * @param problem why the end that was given is none. Default: it is one, or none was given.
 */
async function show(
  ports: BotPorts,
  caller: Caller,
  outcome: PauseOutcome,
  problem: string | null = null,
): Promise<Reply> {
  const inEffect = pauseAt(await ports.settings.get(teamOf(caller)), ports.clock.now());
  const command = nameOf(pause.declaration, caller.fields);
  if (inEffect === null) {
    const hint = small('Pause it: ', { code: `${command} <reason>` });
    return privately(layOut([[NOT_PAUSED[outcome ?? 'asked']], hint]));
  }
  const { reason, by, untilMs } = inEffect;
  const card = layOut([
    lineOf({ strong: 'Spending is paused' }, reason !== '' && [': ', { untrusted: reason }]),
    facts(['By ', { person: by }], untilMs !== undefined && ['ends ', { timeMs: untilMs }]),
    problem !== null && [problem],
    [
      'New clips, Send again and approvals are refused. Clips in progress go on, the other shots of their storyboards included.',
    ],
    small('End the pause: ', { code: `${command} off` }),
  ]);
  return privately(card);
}
