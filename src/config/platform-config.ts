import type { z } from 'zod';
import type { Exception } from '../chat/index.ts';

/** Variables of the environment that are set. */
export type Given = Readonly<Record<string, string | undefined>>;

/** Prefix that identifies a wrong kind of token, and the advice for it. */
export interface TokenMistake {
  readonly prefix: RegExp;
  readonly advice: string;
}

/** Configuration of a chat platform: its variables and their meaning. */
export interface PlatformConfig<Settings = unknown> {
  /** As in `Origin.platform`. */
  readonly name: string;
  /** Name of the platform in texts. */
  readonly title: string;
  readonly variables: z.ZodObject;
  /** Pattern of a team's id, in `ALLOW_TEAMS` after the platform's name and a colon. */
  readonly teamId: RegExp;
  /** Example of a team in `ALLOW_TEAMS`. */
  readonly teamExample: string;
  /** Pattern of a user's id, in `ADMINS` after the platform's name and a colon. */
  readonly userId: RegExp;
  /** Example of a user in `ADMINS`. */
  readonly userExample: string;
  /** Variables that take a token, with the kinds of tokens often pasted into them by mistake. */
  readonly tokens: Readonly<Record<string, readonly TokenMistake[]>>;
  /** Returns whether the variables turn the platform on. */
  readonly isOn: (given: Given) => boolean;
  /** Returns a sentence for each variable that is missing or conflicts with another one. */
  readonly contradictions: (given: Given) => readonly string[];
  /** Returns the kinds of users admitted besides members. */
  readonly admits: (given: Given) => readonly Exception[];
  /** Returns the settings of valid variables that turn the platform on. */
  readonly settings: (given: Given) => Settings;
}
