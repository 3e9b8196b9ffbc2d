import type { MemberRights, MessageRef } from '#src/chat/platform.ts';
import type { Person, TaskId } from '#src/tasks/task.ts';
import type { MediaKind } from '#src/videos/request.ts';
import type { Card, CardButton } from './ui/card.ts';

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

/** How options are picked on a platform that has fields for them, in place of flags. */
export interface OptionFields {
  /** Options that take a file, by the kind of reference media. */
  readonly files: Readonly<Record<string, readonly string[]>>;
  /** The option that takes links, by the kind of reference media. */
  readonly links: Readonly<Record<string, string>>;
}

/** Somebody doing something in a chat, as an adapter hands it over. */
export interface Caller {
  /** As in `Origin.platform`. */
  readonly platform: string;
  readonly team: string;
  /** The team under which earlier versions kept the tasks of this place, where it was another one. */
  readonly formerTeam?: string;
  readonly channel: string;
  readonly user: Person;
  /** The platform's own id of this interaction; the same again when it is delivered again. */
  readonly interaction: string;
  /** Whether the platform lets this person manage the channel. */
  readonly mayManage: boolean;
  /** The fields that options are picked in. Default: options are typed as flags. */
  readonly fields?: OptionFields | undefined;
  /** Whether this person is a guest or of another organisation, and so sees the tasks of this channel only. Default: no. */
  readonly isExternal?: boolean | undefined;
  /** What this person may do in channels, by id, where the platform said so along with the interaction. Default: unknown. */
  readonly rights?: Readonly<Record<string, MemberRights>> | undefined;
  readonly uploadLimitBytes?: number;
  readonly address: Readonly<Record<string, string>>;
  /**
   * Has the platform accept the acknowledgement of this interaction, right before anything is bought for it. `isRepeated`:
   * an earlier delivery of it may have been acknowledged. Resolves to whether the platform accepted it in time; where it did
   * not, it has reported the interaction as failed, and nothing is bought. Absent: it reports nothing as failed.
   */
  readonly acknowledged?: (isRepeated: boolean) => Promise<boolean>;
}

/** One of the values of a form's field. */
export interface FieldChoice {
  readonly value: string;
  readonly label: string;
  /** What it costs or holds for, at most 100 characters. */
  readonly description?: string;
}

/** A field of a form. */
export interface FormField {
  readonly name: string;
  /** What to choose from, whatever model is chosen beside it; absent where anything may be entered. */
  readonly choices?: { readonly title: string; readonly placeholder: string; readonly all: readonly FieldChoice[] };
  readonly label: string;
  readonly value: string;
  readonly required: boolean;
  readonly long: boolean;
  /** Why the value is not the one that was given, at most 100 characters. */
  readonly note?: string;
}

/** What is wrong with the value of a form's field. */
export interface FieldProblem {
  /** The field's name. */
  readonly field: string;
  readonly sentence: string;
}

/** A form a platform opens for a person (a modal, a view, a dialog). */
export interface Form {
  /** Comes back with the submission, at most 100 characters. */
  readonly id: string;
  /** At most 45 characters. */
  readonly title: string;
  /** At most 5. */
  readonly fields: readonly FormField[];
  /**
   * The reference files that a refused order lacks, or has of the wrong kind: what is uploaded comes back as addresses,
   * under the name of its kind, and takes the place of what was given.
   */
  readonly upload?: { readonly kind: MediaKind; readonly label: string; readonly note: string; readonly max: number };
  /** The reference media of an order's form, for platforms that have room for fields of their own for them. */
  readonly media?: Readonly<Record<MediaKind, readonly string[]>>;
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
   * the person typed in it: the adapter escapes all of it. `buttons`: ways out, such as **Fix it**;
   * `problems`: the same sentences by field, where a form was refused for its values.
   */
  | {
      readonly kind: 'refused';
      readonly sentence: string;
      readonly buttons?: readonly CardButton[];
      readonly problems?: readonly FieldProblem[];
    }
  | { readonly kind: 'form'; readonly form: Form }
  /**
   * Something that the caller asked for and the platform had reported as failed: for the caller, in a message of the bot's
   * own where the interaction cannot be answered. Once per `id`.
   */
  | { readonly kind: 'offer'; readonly id: string; readonly card: Card };

/** What is offered while a person types an option. */
export interface Suggestion {
  readonly value: string;
  readonly label: string;
  /** What it is found by. Default: value and label. */
  readonly terms?: readonly string[];
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

/**
 * How words came to the bot: `command` after `/video`; `message` in a mention of the app or a direct message to it, where
 * small talk is asked about; `plain` in a chat where everybody's words arrive, which are never an order.
 */
export type Addressing = 'command' | 'message' | 'plain';

/** The bot behind every adapter. Each method may reject with a `DailiesError`; adapters show its sentence privately. */
export interface Bot {
  /** The subcommands of `/video`, in the order of the help. */
  readonly commands: readonly Command[];
  /** Runs a subcommand with options as a platform gave them. */
  command(caller: Caller, name: string, given: GivenOptions): Promise<Reply>;
  /**
   * Runs what was typed, flags included (`text.ts`).
   * @param addressing default: `command`
   * @param files addresses of the files that came with it, by option: they are no words, and are shown to nobody. Default: none.
   */
  text(caller: Caller, text: string, addressing?: Addressing, files?: GivenOptions): Promise<Reply>;
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
