import type { MemberRights, MessageRef } from '#src/chat/index.ts';
import type { Person, Price, Task, TaskId } from '#src/tasks/index.ts';
import type { Catalog, MediaKind } from '#src/videos/index.ts';
import type { Card, CardButton } from './ui/card.ts';

/** Option of a command, declared once; every adapter maps it to its own form (Discord options, flags, form fields). */
export interface OptionDeclaration {
  /** As typed: `seconds` is `--seconds 6` in text. */
  readonly name: string;
  /** Another name of its flag. */
  readonly alias?: string;
  /** At most 100 characters, which is Discord's limit. */
  readonly description: string;
  /**
   * Input control and value format: a `flag` takes no value and arrives as `''`; a `person` arrives as `<@ID|name>` or
   * `<@ID>`, an `approver` likewise or, for a role or user group, as `<@&ID|name>` or `<!subteam^ID|name>`, a `channel`
   * as `<#ID|name>` or `<#ID>` (all may also be typed as words: `me`, `everyone`, a name);
   * everything else arrives as typed.
   */
  readonly kind: 'text' | 'integer' | 'flag' | 'person' | 'approver' | 'channel' | 'address';
  /** Default: false. */
  readonly required?: boolean;
  /** Default as the help shows it; absent where the catalog sets the default or there is none. */
  readonly defaultWords?: string;
  /** Takes the words of a typed command that belong to no flag. At most one such option per command. Default: false. */
  readonly positional?: boolean;
  /** A positional option that takes the rest of a typed command as it is, line by line, flags included. Default: false. */
  readonly perLine?: boolean;
  /**
   * In a typed command, takes all words up to the next flag (`true`), or those that commas join (`commas`). Default: one word,
   * or words in quotes.
   */
  readonly isList?: true | 'commas';
  /** Accepts several values (reference media). Default: false. */
  readonly repeated?: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly min?: number;
  readonly max?: number;
  /** Allowed values in words, for the help. Default: by kind, choices or catalog. */
  readonly range?: string;
  /** Closed set of values. */
  readonly choices?: readonly { readonly value: string; readonly label: string }[];
  /** True: only for those who may administer the team; in a command with {@link Command.isAdministrative} `options`. */
  readonly isAdministrative?: true;
  /** Source of the autocomplete suggestions. */
  readonly autocomplete?:
    | 'model'
    | 'models'
    | 'setting'
    | 'style'
    | 'reference'
    | 'task'
    | 'open_task'
    | 'month'
    | 'time_zone'
    | 'currency'
    | 'until'
    | 'command';
}

/** Raw values by option name, not validated. An option with no values counts as not given. */
export type GivenOptions = Readonly<Record<string, readonly string[]>>;

/** Option fields of a platform that has them in place of flags. */
export interface OptionFields {
  /** Names of the options that take a file, by the kind of reference media. */
  readonly files: Readonly<Record<string, readonly string[]>>;
  /** Name of the option that takes links, by the kind of reference media. */
  readonly links: Readonly<Record<string, string>>;
  /** Command that holds the administrative subcommands, such as `/video-admin`. Default: `/video`. */
  readonly administration?: string;
  /** True where the commands' aliases are registered. Default: false. */
  readonly hasAliases?: true;
}

export interface ShownPrices {
  /** Price of the clip, `null` for none. Absent: the form could not show it. */
  readonly price?: Price | null;
  /** Fingerprint of all prices ({@link Form.prices}), where each choice showed its own. Absent: they did not. */
  readonly prices?: string;
}

/** User behind an interaction, with its channel and permissions, as an adapter passes it. */
export interface Caller {
  /** As in `Origin.platform`. */
  readonly platform: string;
  readonly team: string;
  readonly channel: string;
  /** As in `Origin.parentChannel`. */
  readonly parentChannel?: string;
  readonly user: Person;
  /** The platform's id of this interaction; a redelivery has the same id. */
  readonly interaction: string;
  /** True if the platform lets this user manage the channel. */
  readonly mayManage: boolean;
  /**
   * True if the platform lets this user manage the team (server, workspace). The bot sets it for those named in `ADMINS`,
   * too.
   */
  readonly mayAdminister: boolean;
  /** Ids of the user's roles in the team, where the platform sends them with the interaction. Default: unknown. */
  readonly roles?: readonly string[] | undefined;
  /** Fields for options. Default: options are typed as flags. */
  readonly fields?: OptionFields | undefined;
  /** True for a guest or a member of another organisation, who sees the tasks of this channel only. Default: false. */
  readonly isExternal?: boolean | undefined;
  /** The user's rights by channel id, where the platform sent them with the interaction. Default: unknown. */
  readonly rights?: Readonly<Record<string, MemberRights>> | undefined;
  readonly uploadLimitBytes?: number;
  readonly address: Readonly<Record<string, string>>;
  /** True where the bot is no member: it can only respond to this interaction, with one message. Default: false. */
  readonly isGuest?: boolean;
  /**
   * Acknowledges this interaction to the platform, or checks that it still can be, right before anything is bought for
   * it. Resolves to true if the platform accepts the acknowledgement in time; otherwise the platform has reported the
   * interaction as failed, and nothing is bought. Absent for a platform that never reports an interaction as failed.
   * @param isRepeated stores that this delivery came so far, and resolves to whether an earlier one did: for a platform that
   * cannot be asked for the acknowledgement of an earlier one. Default: none did.
   */
  readonly acknowledged?: (isRepeated?: () => Promise<boolean>) => Promise<boolean>;
  /** Prices that the form or button showed. Absent: neither. */
  readonly shown?: ShownPrices;
  /** How the options of a command were given, as the audit log says: by it, or by the form of a panel. Default: by it. */
  readonly surface?: 'command' | 'form';
}

export interface FieldChoice {
  readonly value: string;
  readonly label: string;
  /** Cost or applicable models, at most 100 characters. */
  readonly description?: string;
}

export interface FormField {
  readonly name: string;
  /** Choices, independent of the model chosen in the same form; absent for free input. */
  readonly choices?: { readonly title: string; readonly placeholder: string; readonly all: readonly FieldChoice[] };
  /**
   * Control of the platform itself: its people, people with roles or user groups, channels, whose values are as those of an
   * option of that kind; or a switch, `on` or `off`. Default: the choices, or text.
   */
  readonly control?: 'person' | 'approver' | 'channel' | 'switch';
  /** Most values of a control or of choices; where they may be several, one per line. Default: 1. */
  readonly most?: number;
  /** At most 45 characters. */
  readonly label: string;
  readonly value: string;
  readonly required: boolean;
  readonly long: boolean;
  /** A long field that may be filled from a text file, on a platform whose forms can. Default: false. */
  readonly lines?: boolean;
  /** In UTF-16 units. Default: that of the platform's input. */
  readonly maxLength?: number;
  /** Reason for replacing the given value, at most 100 characters. */
  readonly note?: string;
}

export interface FieldProblem {
  /** The field's name; `null` if the error is about none, or about several. */
  readonly field: string | null;
  readonly sentence: string;
}

/** Form that a platform opens for a user (a modal, a view, a dialog). */
export interface Form {
  /** Returned with the submission, at most 100 characters. */
  readonly id: string;
  /** At most 45 characters. */
  readonly title: string;
  /** At most 7, of which a platform with room for fewer leaves out the last. */
  readonly fields: readonly FormField[];
  /**
   * Reference files that a refused order is missing or has of the wrong kind. Uploads are submitted as addresses under
   * the name of their kind and replace the given ones.
   */
  readonly upload?: { readonly kind: MediaKind; readonly label: string; readonly note: string; readonly max: number };
  /** Reference media of an order's form, for platforms with separate fields for them. */
  readonly media?: Readonly<Record<MediaKind, readonly string[]>>;
  /** Fingerprint of the prices of an order's form, for platforms whose forms cannot show the price of the choices. */
  readonly prices?: string;
  readonly submit: string;
}

export type Reply =
  /**
   * Task created or found for this interaction; its message is the response: acknowledge, then {@link Bot.show} it.
   * `settled`: replaces the question whose button ordered it. `claimed`: the task, where it was just claimed.
   */
  | { readonly kind: 'task'; readonly task: TaskId; readonly settled?: string; readonly claimed?: Task }
  /** Visible to the caller only (ephemeral). */
  | { readonly kind: 'private'; readonly card: Card }
  /** Visible to everyone in the channel. */
  | { readonly kind: 'public'; readonly card: Card }
  /**
   * Invalid input or a missing right: visible to the caller only; nothing was done. Plain text, one reason per line,
   * which includes user input: the adapter escapes all of it. `buttons`: remedies, such as **Fix it**; `problems`: the
   * same sentences by field, where an order was refused for its values.
   */
  | {
      readonly kind: 'refused';
      readonly sentence: string;
      readonly buttons?: readonly CardButton[];
      readonly problems?: readonly FieldProblem[];
    }
  | { readonly kind: 'form'; readonly form: Form }
  /**
   * Request to confirm, such as one that the platform had already reported to the caller as failed: visible to the
   * caller only, in a separate message where the interaction can no longer be answered or, as a reaction, never could.
   * Shown once per `id`. `private`: the card where only the caller sees it, if it differs.
   */
  | { readonly kind: 'offer'; readonly id: string; readonly card: Card; readonly private?: Card };

export interface Suggestion {
  readonly value: string;
  readonly label: string;
  /** Search terms that match it. Default: value and label. */
  readonly terms?: readonly string[];
}

/** Subcommand of `/video`. */
export interface Command {
  readonly name: string;
  /** At most 100 characters. */
  readonly description: string;
  /** Complete command line that a user can type. */
  readonly example: string;
  readonly options: readonly OptionDeclaration[];
  /** Audience of the response, which an adapter needs before it acknowledges. */
  readonly visibility: 'public' | 'private';
  /** True: only for those who may administer the team; `options`: its administrative options. Default: none is. */
  readonly isAdministrative?: true | 'options';
  /** True for a command that orders clips. Default: false. */
  readonly buys?: true;
  /** Name beside `/video` under which a platform may register it as well, with these fields alone. */
  readonly alias?: { readonly name: string; readonly fields: readonly string[] };
}

/**
 * Source of a text: `command` after `/video`; `message` in a mention of the app or a direct message to it, where
 * small talk needs a confirmation; `assistant` in an assistant's conversation with the app, where commands count, and every
 * order needs a confirmation, also after a `create`, with which plain words may begin; `plain` in a chat where the bot
 * receives every message, and none is an order by itself.
 */
export type Addressing = 'command' | 'message' | 'assistant' | 'plain';

/** Bot behind every adapter. Each method may reject; `runInteraction` tells the caller privately. */
export interface Bot {
  /** The subcommands of `/video`, in the order of the help. */
  readonly commands: readonly Command[];
  /** Returns the subcommands that a caller may run in their channel, with the options that they may use. */
  commandsFor(caller: Caller): Promise<readonly Command[]>;
  command(caller: Caller, name: string, given: GivenOptions): Promise<Reply>;
  /**
   * Runs a typed command, flags included (`text.ts`).
   * @param addressing default: `command`
   * @param files addresses of the attached files, by option; not part of the text and never shown. Default: none.
   */
  text(caller: Caller, text: string, addressing?: Addressing, files?: GivenOptions): Promise<Reply>;
  /** Returns the form of a new clip; with a script, that of a storyboard with its lines. */
  form(caller: Caller, script?: string): Promise<Reply>;
  /** Returns the cards of a person's home page, for platforms that have one. */
  home(caller: Caller): Promise<readonly Card[]>;
  /** Handles a button press, by the button's id. */
  press(caller: Caller, button: string): Promise<Reply>;
  /** Handles a reaction to a message. `null` for another bot's message or an emoji other than 🔁 and ❌: no response. */
  react(caller: Caller, message: MessageRef, emoji: string): Promise<Reply | null>;
  /** Handles the submission of a form of {@link Reply}. */
  submit(caller: Caller, form: string, values: Readonly<Record<string, string>>): Promise<Reply>;
  /** Returns autocomplete suggestions for an option; at most 25, from in-process data and indexes only. */
  suggest(
    caller: Caller,
    command: string,
    option: string,
    typed: string,
    given: GivenOptions,
  ): Promise<readonly Suggestion[]>;
  /** Returns the catalog with the caller's defaults, for platforms that show the price of an order before it is placed. */
  catalogFor(caller: Caller): Promise<Catalog>;
  /**
   * Returns the answer to an interaction whose order was removed, with its prompt; `null` for any other. A redelivery must
   * not store again what was removed: ask this before anything of the interaction is stored.
   */
  removed(caller: Caller): Promise<Reply | null>;
  /** Runs what the user of an interaction waits for: while many do, jobs give way. */
  urgently<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Posts the message of a new task, or finds it if it was already posted. @param claimed as in {@link Reply} */
  show(task: TaskId, claimed?: Task): Promise<MessageRef>;
}
