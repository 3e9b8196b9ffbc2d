import type { MessageRef } from '#src/chat/platform.ts';
import type { Person, TaskId } from '#src/tasks/task.ts';
import type { Card } from './card.ts';

/** An option of a command, declared once; every adapter reads it in its own way (Discord options, flags, form fields). */
export interface OptionDeclaration {
  /** As typed: `seconds` is `--seconds 6` in text. */
  readonly name: string;
  /** At most 100 characters, for Discord's sake. */
  readonly description: string;
  /**
   * How an adapter asks for it and hands it over: a `flag` takes no value and comes as `''`; a `person` comes as
   * `<@ID|name>` or `<@ID>`, a `channel` as `<#ID|name>` or `<#ID>` (both may also be typed as words: `me`, `everyone`,
   * a name); everything else as it was typed.
   */
  readonly kind: 'text' | 'integer' | 'flag' | 'person' | 'channel' | 'address';
  readonly required: boolean;
  /** What holds where it is not given, for the help; absent where the catalog decides or nothing does. */
  readonly defaultWords?: string;
  /** In text, the words that belong to no flag go here. At most one per command. */
  readonly positional: boolean;
  /** Whether it may be given several times (reference media). */
  readonly repeated: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly min?: number;
  readonly max?: number;
  /** A closed set of values. */
  readonly choices?: readonly { readonly value: string; readonly label: string }[];
  /** What is offered while a person types. */
  readonly autocomplete?: 'model' | 'task' | 'open_task' | 'seconds' | 'aspect' | 'resolution' | 'month';
}

/** Values as they came, by option name: text by text, nothing checked. An option with no values counts as not given. */
export type GivenOptions = Readonly<Record<string, readonly string[]>>;

/** Somebody doing something in a chat, as an adapter hands it over. */
export interface Caller {
  /** As in `Origin.platform`. */
  readonly platform: string;
  readonly team: string;
  readonly channel: string;
  readonly user: Person;
  /** The platform's own id of this interaction; the same again when it is delivered again. */
  readonly interaction: string;
  /** Whether the platform lets this person manage the channel. */
  readonly mayManage: boolean;
  readonly uploadLimitBytes?: number;
  readonly address: Readonly<Record<string, string>>;
}

/** A field of a form. */
export interface FormField {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly required: boolean;
  readonly long: boolean;
}

/** A form a platform opens for a person (a modal, a view, a dialog). */
export interface Form {
  /** Comes back with the submission, at most 100 characters. */
  readonly id: string;
  /** At most 45 characters. */
  readonly title: string;
  /** At most 5. */
  readonly fields: readonly FormField[];
  readonly submit: string;
}

/** What the bot answers. The adapter shows it in the platform's own form. */
export type Reply =
  /** A task was made, or found, for this interaction: its own message is the answer; call {@link Bot.show} after acknowledging. */
  | { readonly kind: 'task'; readonly task: TaskId }
  /** For the caller alone. */
  | { readonly kind: 'private'; readonly card: Card }
  /** For everybody in the channel. */
  | { readonly kind: 'public'; readonly card: Card }
  /**
   * Wrong input or a missing right: for the caller alone; nothing was done. Plain text, one reason a line, with what
   * the person typed in it: the adapter escapes all of it.
   */
  | { readonly kind: 'refused'; readonly sentence: string }
  | { readonly kind: 'form'; readonly form: Form };

/** What is offered while a person types an option. */
export interface Suggestion {
  readonly value: string;
  readonly label: string;
}

/** A subcommand of `/video`. */
export interface Command {
  readonly name: string;
  /** At most 100 characters. */
  readonly description: string;
  /** A whole line somebody can type. */
  readonly example: string;
  readonly options: readonly OptionDeclaration[];
  /** Whether the answer is for everybody; an adapter must know before it acknowledges. */
  readonly visibility: 'public' | 'private';
}

/** The bot behind every adapter. Each method may reject with a `DailiesError`; adapters show its sentence privately. */
export interface Bot {
  /** The subcommands of `/video`, in the order of the help. */
  readonly commands: readonly Command[];
  /** Runs a subcommand with options as a platform gave them. */
  command(caller: Caller, name: string, given: GivenOptions): Promise<Reply>;
  /** Runs what was typed after `/video`, flags included (`text.ts`). */
  text(caller: Caller, text: string): Promise<Reply>;
  /** Somebody pressed a button, by the id it was shown with. */
  press(caller: Caller, button: string): Promise<Reply>;
  /** Somebody reacted to a message. `null`: not ours, or not 🔁 or ❌; say nothing. */
  react(caller: Caller, message: MessageRef, emoji: string): Promise<Reply | null>;
  /** Somebody sent a form of {@link Reply}. */
  submit(caller: Caller, form: string, values: Readonly<Record<string, string>>): Promise<Reply>;
  /** What to offer for an option; at most 25, answered from memory and indexes only. */
  suggest(
    caller: Caller,
    command: string,
    option: string,
    typed: string,
    given: GivenOptions,
  ): Promise<readonly Suggestion[]>;
  /** Shows the message of a task that was just made, or finds it. */
  show(task: TaskId): Promise<MessageRef>;
}
