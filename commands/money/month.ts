import { periodOf } from '#src/period.ts';
import type { Caller } from '../bot-port.ts';
import { type BotPorts, teamOf } from '../input/subcommand.ts';

interface TeamMonth {
  /** Such as `2026-11`. */
  readonly period: string;
  readonly timeZone: string;
}

/** Returns the current month in the team's time zone. Rejects with `store_unavailable`. */
export async function periodNow(ports: Pick<BotPorts, 'settings' | 'clock'>, caller: Caller): Promise<TeamMonth> {
  const { timeZone } = await ports.settings.get(teamOf(caller));
  return { period: periodOf(ports.clock.now(), timeZone), timeZone };
}
