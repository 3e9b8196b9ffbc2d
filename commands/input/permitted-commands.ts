import type { Caller, Command } from '../bot-port.ts';
import { mayNotCreateHere } from '../policy/rules-here.ts';
import { type BotPorts, mayRun } from './subcommand.ts';

/** Commands that a caller may run in their channel. */
interface PermittedCommands {
  /** In the order given, with the options that the caller may use. */
  readonly commands: readonly Command[];
  /** Why the caller may not order clips there; `null` if they may. */
  readonly refusal: string | null;
}

/** Returns those of the commands that a caller may run here: by their rights, and by the policy as far as it can be read. */
export async function permittedCommands(
  ports: BotPorts,
  caller: Caller,
  commands: readonly Command[],
): Promise<PermittedCommands> {
  const refusal = await mayNotCreateHere(ports, caller).catch(() => null);
  const permitted = commands
    .filter((command) => mayRun(caller, command) && (refusal === null || command.buys !== true))
    .map((command) => (caller.mayAdminister ? command : withoutAdministration(command)));
  return { commands: permitted, refusal };
}

/** Returns a command without its options for administrators. */
export function withoutAdministration(command: Command): Command {
  return { ...command, options: command.options.filter(({ isAdministrative }) => isAdministrative !== true) };
}

/** Returns the name of a command as typed, without what stands before it: `/video-admin Budget` is `budget`. */
export function commandName(typed: string): string {
  return typed
    .trim()
    .replace(/^\/?(?:video(?:-admin)?\s+)?/iu, '')
    .toLowerCase();
}
