import type { Chat } from '#src/chat/chat.ts';
import type { Subscriptions } from '#src/chat/subscriptions.ts';
import type { Clock } from '#src/clock.ts';
import type { Logger } from '#src/logger.ts';
import type { FileDescription } from '#src/media/relay.ts';
import type { Drafts } from '#src/pipeline/drafts.ts';
import type { InteractivePriority } from '#src/pipeline/priority.ts';
import type { TaskService } from '#src/pipeline/task-service.ts';
import type { VisibleScope } from '#src/pipeline/visible-history.ts';
import type { Ledger } from '#src/tasks/ledger.ts';
import type { LimitReached } from '#src/tasks/limits.ts';
import type { Catalog } from '#src/videos/model.ts';
import type { CheckReferences } from '#src/videos/reference-addresses.ts';
import type { Caller, Command, GivenOptions, Reply } from '../bot-port.ts';
import type { Card } from '../ui/card.ts';

/** A word that makes the embedded video service behave in some way, for trying things out. */
export interface SteeringHint {
  /** What to write in a prompt. */
  readonly write: string;
  /** What happens then. */
  readonly effect: string;
}

/** What the commands work with. */
export interface BotPorts {
  readonly tasks: TaskService;
  readonly chat: Chat;
  readonly ledger: Ledger;
  /** Requests that wait for a confirmation. */
  readonly drafts: Drafts;
  readonly subscriptions: Subscriptions;
  /** The catalog of now: it may be read again while the bot runs. */
  readonly catalog: () => Catalog;
  /** An address of our own that stops working, signed anew; any other as it is. */
  readonly renewed: (url: string) => string;
  /** Looks up the hosts of reference media, before anything is bought. */
  readonly checkReferences: CheckReferences;
  /** The file behind an address of our own; `null` for any other address. */
  readonly fileBehind: (url: string) => Promise<FileDescription | null>;
  /** Shown in the help; empty where a real service is configured. */
  readonly steering: readonly SteeringHint[];
  /** Told while somebody waits for an answer. */
  readonly interactivePriority: Pick<InteractivePriority, 'during'>;
  /** Told of every order that did not fit into a limit. */
  readonly limitReached: (limit: LimitReached) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A subcommand of `/video`: what it takes, and what it does. */
export interface Subcommand {
  readonly declaration: Command;
  /**
   * Looks at the values where the declaration alone cannot. @returns a sentence for each that is wrong.
   * Default: {@link checkValues}.
   */
  readonly check?: (ports: BotPorts, given: GivenOptions, caller: Caller) => readonly string[];
  /** Called with options that passed the check. */
  readonly run: (ports: BotPorts, caller: Caller, given: GivenOptions) => Promise<Reply>;
}

/** The team a caller is in, as the task service counts it. */
export function teamOf({ platform, team }: Caller): { readonly platform: string; readonly team: string } {
  return { platform, team };
}

/** The tasks of their team that a caller may see from where they are. */
export function visibleTo({ platform, team, channel, user, isExternal }: Caller): VisibleScope {
  return { platform, team, viewer: { user: user.id, channel, isExternal } };
}

/** An answer for the caller alone. */
export function privately(card: Card): Reply {
  return { kind: 'private', card };
}

/** An answer that nothing was done, and why, one reason a line. */
export function refused(...sentences: readonly string[]): Reply {
  return { kind: 'refused', sentence: sentences.join('\n') };
}
