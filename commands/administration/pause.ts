import { momentOf } from '#src/money/index.ts';
import { type Pause, pauseAt } from '#src/teams/index.ts';
import type { Caller, OptionDeclaration, Reply } from '../bot-port.ts';
import { isSet, optionValue } from '../input/options.ts';
import { type BotPorts, byCommand, privately, refused, type Subcommand, teamOf } from '../input/subcommand.ts';
import {
  notAnEnd,
  type PauseOutcome,
  pauseCard,
  REASON_LENGTH,
  REASON_MISSING,
} from '../sentences/administration/pause.ts';
import { nameOf } from '../sentences/cards/help.ts';

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
    if (reason === undefined) return until === undefined ? show(ports, caller, null) : refused(REASON_MISSING);
    const { timeZone } = await ports.settings.get(teamOf(caller));
    const nowMs = ports.clock.now();
    const untilMs = until === undefined ? undefined : momentOf(until, timeZone, nowMs);
    // It stops first: a wrong end is asked about afterwards.
    const isEnd = untilMs !== undefined && untilMs !== null && untilMs > nowMs;
    const wanted: Pause = { reason, by: caller.user, atMs: nowMs, ...(isEnd ? { untilMs } : {}) };
    await ports.settings.change(teamOf(caller), byCommand(caller), { pause: wanted });
    const isWrong = until !== undefined && !isEnd;
    return show(ports, caller, 'paused', isWrong ? notAnEnd(until, untilMs === null ? 'unreadable' : 'past') : null);
  },
};

async function resume(ports: BotPorts, caller: Caller): Promise<Reply> {
  const before = pauseAt(await ports.settings.get(teamOf(caller)), ports.clock.now());
  await ports.settings.change(teamOf(caller), byCommand(caller), { pause: null });
  return show(ports, caller, before === null ? 'not_paused' : 'resumed');
}

async function show(
  ports: BotPorts,
  caller: Caller,
  outcome: PauseOutcome,
  problem: string | null = null,
): Promise<Reply> {
  const inEffect = pauseAt(await ports.settings.get(teamOf(caller)), ports.clock.now());
  return privately(pauseCard(inEffect, outcome, nameOf(pause.declaration, caller.fields), problem));
}
