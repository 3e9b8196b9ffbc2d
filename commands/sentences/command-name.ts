import type { Command, OptionFields } from '../bot-port.ts';

export function nameOf(command: Command, fields: OptionFields | undefined): string {
  return `${(isForAdministrators(command) ? fields?.administration : undefined) ?? '/video'} ${command.name}`;
}

/** Returns whether a command, as its user may use it, is for administrators or has options for them. */
export function isForAdministrators({ isAdministrative, options }: Command): boolean {
  return isAdministrative === true || options.some((option) => option.isAdministrative === true);
}

/** Returns the command that shows and changes the policy, as it is typed on the platform. */
export function policyCommand(fields: OptionFields | undefined): string {
  return `${fields?.administration ?? '/video'} policy`;
}
