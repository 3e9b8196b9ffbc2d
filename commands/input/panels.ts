import type { Caller, Command, FieldChoice, FieldProblem, GivenOptions } from '../bot-port.ts';
import { button, MAX_ID_LENGTH } from '../ui/buttons.ts';
import type { CardButton } from '../ui/card.ts';
import type { BotPorts } from './subcommand.ts';

/** Option of a command as a field of a form, with its values of today. */
export interface PanelField {
  readonly option: string;
  /** At most 45 characters. */
  readonly label: string;
  /** Values of today, as they may be typed. */
  readonly values: readonly string[];
  /** Name of the field, where several set one option. Default: the option's. */
  readonly name?: string;
  /** At most 100 characters. Default: the description of the option. */
  readonly note?: string;
  /** Default: those of the option. */
  readonly choices?: readonly FieldChoice[];
  readonly required?: true;
  /**
   * Takes several values: `whole`, which the option takes as a list; `each`, which are added and, by the option `change`,
   * removed one by one. Default: one value.
   */
  readonly list?: 'whole' | 'each';
  /** True for what the others are about, such as a channel. Default: false. */
  readonly isSubject?: true;
  /** Follows a bare number, such as a currency. */
  readonly unit?: string;
  /** Options that go with it. Default: none. */
  readonly with?: GivenOptions;
  /** Options that an emptied field gives. Default: `off` with the option's name. */
  readonly emptied?: GivenOptions;
}

/** Options of a command that one form sets: at most 5, as many as a modal of Discord holds. */
export interface PanelGroup {
  /** Label of its button. */
  readonly label: string;
  /** At most 24 characters, which is Slack's limit. */
  readonly title: string;
  /** @param about which of several things the form is about; `null` for none */
  readonly fields: (
    ports: BotPorts,
    caller: Caller,
    about: string | null,
  ) => readonly PanelField[] | Promise<readonly PanelField[]>;
  /** Options that name what the form is about. */
  readonly subject?: (ports: BotPorts, caller: Caller, about: string) => GivenOptions | Promise<GivenOptions>;
  /** Returns what is wrong with what the form is about, such as a name that is taken. Default: nothing. */
  readonly check?: (ports: BotPorts, caller: Caller, subject: GivenOptions) => Promise<readonly FieldProblem[]>;
  /** Options of a form in which nothing was chosen. Default: none, which changes nothing. */
  readonly untouched?: GivenOptions;
  /** Whether it is about one of several things: always, or also. Default: never. */
  readonly isAboutOne?: 'always' | 'also';
}

/** Options of a command as forms, by the names of their groups in ids. */
export type Panel = Readonly<Record<string, PanelGroup>>;

/** Returns whether a caller may open the forms of a command. */
export function mayOpen({ mayAdminister }: Caller, { isAdministrative }: Command): boolean {
  return mayAdminister || isAdministrative === undefined;
}

/**
 * Returns the buttons of a panel; none to a caller who may not use it.
 * @param about opens the forms about one thing; `null`: those about none
 */
export function panelButtons(
  caller: Caller,
  command: Command,
  panel: Panel,
  about: string | null = null,
): readonly CardButton[] {
  if (!mayOpen(caller, command)) return [];
  return Object.entries(panel)
    .filter(([, { isAboutOne }]) => (about === null ? isAboutOne !== 'always' : isAboutOne !== undefined))
    .map(([group, { label }]) => button({ action: 'panel', command: command.name, group, about }, label))
    .filter(({ id }) => id.length <= MAX_ID_LENGTH);
}
