import type { Chat, Subscriptions } from '#src/chat/index.ts';
import type { Remover } from '#src/clips/index.ts';
import type { Clock } from '#src/clock.ts';
import type { Enhancer } from '#src/enhancer/index.ts';
import type { Gallery } from '#src/gallery/index.ts';
import type { Logger } from '#src/logger.ts';
import type { ClipLinks, FileDescription, LastFrames, LibraryFiles, MarksOf } from '#src/media/index.ts';
import type { Approvals, BudgetRepository, Notices, Statements } from '#src/money/index.ts';
import type { Boards } from '#src/orders/index.ts';
import type { Forgetting } from '#src/people/index.ts';
import type { Drafts, TaskService, VisibleScope } from '#src/pipeline/index.ts';
import type { Cuts, Reviews } from '#src/studio/index.ts';
import type { LedgerEntry, LedgerScope, LimitReached, Person, Refunds, SpendScope } from '#src/tasks/index.ts';
import {
  type Actor,
  type Admin,
  type Approvers,
  type AuditTrail,
  isAmong,
  type PersonalDefaults,
  type References,
  type TeamSettingsRepository,
} from '#src/teams/index.ts';
import type { Catalog, CheckReferences } from '#src/videos/index.ts';
import type { Caller, Command, FieldProblem, GivenOptions, Reply } from '../bot-port.ts';
import type { ReadSpendingRules } from '../orders/spending.ts';
import type { Press } from '../ui/buttons.ts';
import type { Card } from '../ui/card.ts';
import type { Panel } from './panels.ts';

/** Test directive for the embedded video service, written in a prompt. */
export interface SteeringHint {
  readonly write: string;
  readonly effect: string;
}

export interface BotPorts {
  readonly tasks: Omit<TaskService, 'resume'>;
  readonly chat: Chat;
  readonly boards: Pick<Boards, 'get' | 'change' | 'insert'>;
  /** Last frames of clips, with which the next shots of storyboards start. */
  readonly frames: Pick<LastFrames, 'missing'>;
  /** Joins clips into one file. */
  readonly cuts: Pick<Cuts, 'request' | 'show' | 'tasksOf'>;
  /** Reads what was spent in a month, such as `2026-11`, in the team's time zone; in pages, oldest first, each entry once. */
  readonly ledger: (scope: LedgerScope, month: string) => AsyncIterable<readonly LedgerEntry[]>;
  /** Posts messages besides the response, such as a file for the caller. */
  readonly notices: Pick<Notices, 'postNow'>;
  /** Requests that await a confirmation. */
  readonly drafts: Drafts;
  readonly subscriptions: Pick<Subscriptions, 'list' | 'add' | 'remove'>;
  readonly remover: Pick<Remover, 'remove' | 'complete'>;
  readonly forgetting: Pick<Forgetting, 'request'>;
  /** Improves prompts; `null` where it is not configured: then there is no button for it. */
  readonly enhancer: Enhancer | null;
  /** Reference images of teams. */
  readonly references: Pick<References, 'list' | 'add' | 'remove'>;
  readonly libraryFiles: LibraryFiles;
  /** Default model, length and aspect ratio of people. */
  readonly defaults: Pick<PersonalDefaults, 'get' | 'change'>;
  readonly budgets: Pick<BudgetRepository, 'get' | 'list' | 'change' | 'spend' | 'limiting' | 'named'>;
  /** The video service's statements, compared with the books. */
  readonly statements: Pick<
    Statements,
    'list' | 'get' | 'discrepancy' | 'decision' | 'nextUndecided' | 'isBooking' | 'bookMatches' | 'decide'
  >;
  readonly settings: Pick<TeamSettingsRepository, 'get' | 'change'>;
  readonly audit: Pick<AuditTrail, 'page' | 'commitAudited'>;
  readonly approvers: Pick<Approvers, 'list' | 'add' | 'remove'>;
  readonly approvals: Pick<Approvals, 'approve' | 'deny' | 'waiting'>;
  /** Time at which a failed clip counts as refunded. */
  readonly refunds: Refunds;
  /** Records the decisions of reviewers. */
  readonly reviews: Pick<Reviews, 'decide' | 'newer'>;
  /** Persons who administer every team of their platform. */
  readonly admins: readonly Admin[];
  readonly gallery: Pick<Gallery, 'linkFor' | 'isOn'>;
  /** Returns the current catalog, which may be reloaded while the bot runs. */
  readonly catalog: () => Catalog;
  /** Signs an expiring address of the bot's own anew; returns any other address unchanged. */
  readonly renewed: (url: string) => string;
  /** Checks the hosts of reference media before anything is bought. */
  readonly checkReferences: CheckReferences;
  /** Describes the file at an address of the bot's own; `null` for any other address. */
  readonly fileBehind: (url: string) => Promise<FileDescription | null>;
  /** Pictures of clips, and of the images that they are made with. */
  readonly pictures: Pick<ClipLinks, 'forPoster' | 'forImage' | 'forRequest'>;
  /** Reads which marks of AI the file of a clip carries. */
  readonly marksOf: MarksOf;
  /** Test directives shown in the help; empty if a real service is configured. */
  readonly steering: readonly SteeringHint[];
  /** Reads the thresholds and budgets that apply to an order. */
  readonly spendingRules: ReadSpendingRules;
  /** Called for each order refused because of a limit. */
  readonly limitReached: (limit: LimitReached) => void;
  /** Called for each purchase refused because of a budget. */
  readonly overBudget: (scope: SpendScope) => void;
  /** Called for each purchase refused because the data folder is at its limit. */
  readonly dataFull: () => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Handlers of the presses of a command's own buttons: by their action, and those on pages by the list as well. */
type PressHandlers = {
  readonly [Each in Press as Each extends { readonly action: 'page' } ? `page:${Each['what']}` : Each['action']]?: (
    ports: BotPorts,
    caller: Caller,
    press: Each,
  ) => Promise<Reply>;
};

/** Subcommand of `/video` with its handlers. */
export interface Subcommand {
  readonly declaration: Command;
  readonly presses?: PressHandlers;
  /** Its options as forms, which buttons under its card open. Default: none. */
  readonly panel?: Panel;
  /**
   * Validates values beyond the declaration. Default: {@link checkValues}.
   * @returns an error for each invalid value.
   */
  readonly check?: (ports: BotPorts, given: GivenOptions, caller: Caller) => readonly FieldProblem[];
  readonly run: (ports: BotPorts, caller: Caller, given: GivenOptions) => Promise<Reply>;
}

/** Returns true unless the command is administrative and the caller may not administer the team. */
export function mayRun({ mayAdminister }: Caller, { isAdministrative }: Command): boolean {
  return mayAdminister || isAdministrative !== true;
}

/** Returns true for a person named in `ADMINS`, who administers the installation as well. */
export function isOperator({ admins }: Pick<BotPorts, 'admins'>, caller: Pick<Caller, 'platform' | 'user'>): boolean {
  return isAmong(admins, caller.platform, caller.user.id);
}

/** Returns the caller's team as a scope of the task service. */
export function teamOf({ platform, team }: Caller): { readonly platform: string; readonly team: string } {
  return { platform, team };
}

/** Returns the caller as the author of a change by a command. */
export function byCommand({ user, surface = 'command' }: Caller): Actor & { readonly person: Person } {
  return { person: user, surface };
}

/** Returns the scope of the team's tasks that the caller may see from the current channel. */
export function visibleTo({ platform, team, channel, user, isExternal }: Caller): VisibleScope {
  return { platform, team, viewer: { user: user.id, channel, isExternal } };
}

/** Returns a reply visible to the caller only. */
export function privately(card: Card): Reply {
  return { kind: 'private', card };
}

export function refusedWith(problems: readonly FieldProblem[]): Extract<Reply, { readonly kind: 'refused' }> {
  return { kind: 'refused', sentence: problems.map(({ sentence }) => sentence).join('\n'), problems };
}

/** Returns a refusal with one reason per line. */
export function refused(...sentences: readonly string[]): Reply {
  return { kind: 'refused', sentence: sentences.join('\n') };
}
