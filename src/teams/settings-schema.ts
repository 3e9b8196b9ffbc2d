import type { Versioned } from '../engine/index.ts';
import type { Person, Price } from '../tasks/index.ts';
import type { Style } from '../videos/index.ts';
import type { Policy } from './policy/policy.ts';

/** Stop of all purchases of a team. */
export interface Pause {
  /** Written by the person who paused; may be empty. */
  readonly reason: string;
  readonly by: Person;
  readonly atMs: number;
  /** End of the pause. Default: until it is ended. */
  readonly untilMs?: number;
}

/** Time that something is kept. */
interface Keep {
  readonly days: number;
  /** Time from which it applies, in ms since the Unix epoch: until then a mistake can be corrected. */
  readonly fromMs: number;
}

/** Values of the kinds of settings. */
export interface SettingValues {
  /** IANA name. */
  readonly time_zone: string;
  /** ISO 4217. */
  readonly currency: string;
  readonly price: Price;
  /** Platform id. */
  readonly channel: string;
  readonly on_off: boolean;
  readonly days: Keep;
  readonly pause: Pause;
  readonly policy: Policy;
  readonly styles: readonly Style[];
  /** Names of models by channel id. */
  readonly channel_models: Readonly<Record<string, string>>;
}

interface Row<Kind extends keyof SettingValues> {
  readonly kind: Kind;
  /** Action of its entries in the audit log. Stored, so never renamed. */
  readonly action: string;
  /** Default: the setting is absent until it is set. */
  readonly default?: SettingValues[Kind];
  /** Whether each channel has it for itself: its value are the ids of the channels in which it is on, sorted. */
  readonly perChannel?: Kind extends 'on_off' ? true : never;
}

type Rows<Names extends string> = {
  readonly [Name in Names]: { readonly [Kind in keyof SettingValues]: Row<Kind> }[keyof SettingValues];
};

/** Settings of a team, by the names of their fields in its record, which are stored. */
export const TEAM_SETTINGS = rows({
  /** Time zone in which the team's months begin and end. */
  timeZone: { kind: 'time_zone', action: 'time_zone', default: 'UTC' },
  /** Currency of amounts typed without one. Default: that of the catalog's default model. */
  currency: { kind: 'currency', action: 'currency' },
  /** Orders of more than this amount need a confirmation. */
  confirmAbove: { kind: 'price', action: 'confirm_above' },
  /** Orders of more than this amount need an approval. */
  approveAbove: { kind: 'price', action: 'approve_above' },
  /** Channel that gets alerts and monthly reports. */
  reportChannel: { kind: 'channel', action: 'report_channel' },
  /** Whether alerts are sent when a share of a budget is used. */
  alerts: { kind: 'on_off', action: 'alerts', default: true },
  /** Least amount of a day that is reported as unusual. Default: unusual spend is not reported. */
  unusualSpend: { kind: 'price', action: 'unusual_spend' },
  /** Whether cards of finished clips have the word *AI*. */
  aiLabel: { kind: 'on_off', action: 'ai_label', default: false },
  /** Time that clips are kept after their tasks ended. Default: as the operator set. */
  keepClips: { kind: 'days', action: 'keep_clips' },
  /** Time that prompts are kept after their tasks ended; a clip goes with its prompt. Default: as the operator set. */
  keepPrompts: { kind: 'days', action: 'keep_prompts' },
  /** Whether the clips of a channel, with its threads, are reviewed. */
  reviewIn: { kind: 'on_off', action: 'review', perChannel: true },
  /** Whether people may sign off their own clips. */
  signOffOwn: { kind: 'on_off', action: 'sign_off_own', default: true },
  /** Channel in which each signed-off clip is posted. */
  signedOffChannel: { kind: 'channel', action: 'signed_off_channel' },
  /** Whether signed-off clips are kept beyond the team's and the operator's retention. */
  keepSignedOff: { kind: 'on_off', action: 'keep_signed_off', default: false },
  /** See `pauseAt`, which knows about its end. */
  pause: { kind: 'pause', action: 'pause' },
  /** What the team allows. Default: everything. */
  policy: { kind: 'policy', action: 'policy' },
  /** Styles of the team, by name. */
  styles: { kind: 'styles', action: 'style' },
  /** Models that orders in a channel get which name none. */
  channelModels: { kind: 'channel_models', action: 'channel_model' },
});

function rows<const Given extends Rows<string>>(
  given: Given,
): { readonly [Name in keyof Given]: Given[Name] & Row<Given[Name]['kind']> } {
  return given;
}

type Table = typeof TEAM_SETTINGS;

type Value<Name extends keyof Table> = Table[Name] extends { readonly perChannel: true }
  ? readonly string[]
  : SettingValues[Table[Name]['kind']];

type WithDefault = {
  [Name in keyof Table]: Table[Name] extends { readonly default: unknown } ? Name : never;
}[keyof Table];

/** Settings of a team. */
export type TeamSettings = Versioned & { readonly [Name in WithDefault]: Value<Name> } & {
  readonly [Name in Exclude<keyof Table, WithDefault>]?: Value<Name>;
};

/** Settings to change; `null` restores the default. */
export type SettingsPatch = { readonly [Name in keyof Table]?: TeamSettings[Name] | null };

const defaults = Object.entries(TEAM_SETTINGS).map(([name, row]) => [name, row.default] as const);

/** Settings of a team that changed none. */
export const DEFAULT_SETTINGS = {
  revision: 0,
  ...Object.fromEntries(defaults.filter(([, value]) => value !== undefined)),
} as TeamSettings;
