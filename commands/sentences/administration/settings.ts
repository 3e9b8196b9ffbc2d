import { formatPrice, type Price, type ReviewRules } from '#src/tasks/index.ts';
import type { Keep, TeamSettings } from '#src/teams/index.ts';
import { type Block, type Card, type Line, layOut } from '../../ui/card.ts';
import { shorten } from '../format.ts';

/** Setting that `/video settings` shows and changes. */
export type ShownSetting = Exclude<
  keyof TeamSettings,
  'revision' | 'pause' | 'policy' | 'styles' | 'signOffOwn' | 'keepSignedOff' | keyof ReviewRules
>;

/** Content of {@link settingsCard}. */
interface SettingsShown {
  readonly settings: TeamSettings;
  /** Currency of amounts typed without one. */
  readonly currency: string;
  /** Settings that were just changed; `null` if none was to be. */
  readonly changed: readonly ShownSetting[] | null;
  readonly command: string;
  /** A threshold for approvals was just set, and there is no approver. Default: false. */
  readonly lacksApprover?: boolean;
}

/** Labels of the settings, in the order of the card. */
const LABELS: Readonly<Record<ShownSetting, string>> = {
  timeZone: 'Time zone',
  currency: 'Currency',
  confirmAbove: 'Confirm above',
  approveAbove: 'Approve above',
  reportChannel: 'Report channel',
  alerts: 'Alerts',
  unusualSpend: 'Unusual spend',
  keepClips: 'Keep clips',
  keepPrompts: 'Keep prompts',
};

/** Says whether a change was one; nothing where none was asked for (`null`). */
export function savedBlocks(isChanged: boolean | null, saved = 'Saved.'): readonly Block[] {
  if (isChanged === null) return [];
  return [{ kind: 'text', line: [isChanged ? saved : 'Nothing changed: it was like this already.'] }];
}

/** Shows the settings of a team; those that were just changed first. */
export function settingsCard({ settings, currency, changed, command, lacksApprover = false }: SettingsShown): Card {
  const order = Object.keys(LABELS) as ShownSetting[];
  const lineOf = (setting: ShownSetting): Line => [
    { strong: LABELS[setting] },
    ': ',
    ...valueLine(setting, settings, currency),
  ];
  const asBlock = (line: Line): Block => ({ kind: 'text', line });
  const notes = [
    ...(changed?.includes('timeZone') === true ? [ZONE_CHANGED] : []),
    ...(lacksApprover ? [noApprover(command)] : []),
  ];
  const shown = notes.map((note) => asBlock([note]));
  const news: readonly Block[] =
    changed === null
      ? []
      : changed.length === 0
        ? [asBlock(['Nothing changed: the settings were like this already.']), { kind: 'divider' }]
        : [asBlock(['Saved.']), ...changed.map((setting) => asBlock(lineOf(setting))), ...shown, { kind: 'divider' }];
  const rest = order.filter((setting) => changed?.includes(setting) !== true);
  return layOut([
    { kind: 'heading', line: ['Settings of this team'] },
    ...news,
    ...rest.map((setting) => asBlock(lineOf(setting))),
    {
      kind: 'small',
      line: ['To change one: ', { code: command }, ' with an option. ', { code: 'off' }, ' removes a value.'],
    },
  ]);
}

const ZONE_CHANGED =
  'Clips ordered from now on count in the months of the new time zone; earlier ones stay where they are.';

function noApprover(command: string): string {
  const approvers = command.replace(/settings$/u, 'approvers');
  return `Nobody is an approver yet: a request waits until an administrator looks. Name who is to be told with ${approvers}.`;
}

function valueLine(setting: ShownSetting, settings: TeamSettings, currency: string): Line {
  switch (setting) {
    case 'timeZone':
      return [settings.timeZone, '. Months begin and end there.'];
    case 'currency':
      return [currency, ' for amounts typed without one.'];
    case 'confirmAbove':
      return above(
        settings.confirmAbove,
        'ask for a confirmation',
        'No clip asks for a confirmation because of its price.',
      );
    case 'approveAbove':
      return above(settings.approveAbove, 'need an approval', 'No clip needs an approval because of its price.');
    case 'reportChannel':
      return settings.reportChannel === undefined
        ? ['none. Alerts and reports go to administrators and approvers by direct message.']
        : [{ channel: settings.reportChannel }, ' gets alerts and reports.'];
    case 'alerts':
      return [settings.alerts ? 'on, at 50, 80 and 100 % of each budget.' : 'off'];
    case 'unusualSpend':
      return settings.unusualSpend === undefined
        ? ['off']
        : [`reported on a day with three times the usual amount, from ${formatPrice(settings.unusualSpend)}.`];
    case 'keepClips':
      return keptLine(settings.keepClips, 'Then the bot removes its copy of a clip; the chat’s stays.');
    case 'keepPrompts':
      return keptLine(settings.keepPrompts, 'Then the bot removes the prompt with its copy of the clip.');
  }
}

function keptLine(keep: Keep | undefined, does: string): Line {
  if (keep === undefined) return ['as long as this installation is set to.'];
  const days = keep.days === 1 ? '1 day' : `${keep.days} days`;
  return [
    `${days}, or less where this installation is set to less. ${does} Applies from `,
    { timeMs: keep.fromMs },
    '.',
  ];
}

function above(price: Price | undefined, does: string, none: string): Line {
  return [price === undefined ? `off. ${none}` : `${formatPrice(price)}. Clips that cost more ${does}.`];
}

// Plain text that includes user input: adapters escape all of it.

/** Refuses an unknown time zone. */
export function unknownZone(given: string): string {
  return `time_zone: “${shorten(given, 40)}” isn’t a time zone. Write a name such as Europe/Berlin or America/New_York.`;
}

/** Refuses a period that is not a number of days. */
export function notDays(given: string, most: number): string {
  return `“${shorten(given, 40)}” isn’t a number of days from 1 to ${most}.`;
}
