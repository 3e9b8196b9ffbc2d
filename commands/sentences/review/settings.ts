import { hasReview } from '#src/tasks/index.ts';
import type { TeamSettings } from '#src/teams/index.ts';
import { type Block, type Card, type Line, layOut } from '../../ui/card.ts';
import { savedBlocks } from '../administration/settings.ts';
import { formatCount } from '../format.ts';

/** Content of {@link reviewSettingsCard}. */
interface ReviewSettingsShown {
  readonly rules: TeamSettings;
  readonly channel: string;
  /** Whether something was just changed; `null` if nothing was to be. */
  readonly isChanged: boolean | null;
  readonly command: string;
}

/** Other channels that are named at most. */
const MAX_NAMED = 20;

/** Shows where and how a team reviews its clips. */
export function reviewSettingsCard({ rules, channel, isChanged, command }: ReviewSettingsShown): Card {
  const { reviewIn = [], signOffOwn, signedOffChannel, keepSignedOff } = rules;
  const others = reviewIn.filter((one) => one !== channel);
  const named = others.slice(0, MAX_NAMED).flatMap((one, index): Line => [index === 0 ? '' : ', ', { channel: one }]);
  const more = others.length > MAX_NAMED ? ` and ${formatCount(others.length - MAX_NAMED)} more` : '';
  const rows: readonly Line[] = [
    [
      { strong: 'Here' },
      hasReview(rules, { channel })
        ? ': on. Finished clips have Sign off and Request changes, for everyone who sees them here.'
        : ': off.',
    ],
    ...(others.length === 0 ? [] : [[{ strong: 'Also on in' }, ': ', ...named, more, '.']]),
    [
      { strong: 'Own clips' },
      signOffOwn ? ': people may sign off their own.' : ': someone else than the requester signs them off.',
    ],
    signedOffChannel === undefined
      ? [{ strong: 'Signed-off clips' }, ': posted nowhere else.']
      : [
          { strong: 'Signed-off clips' },
          ': each is posted once in ',
          { channel: signedOffChannel },
          ', except those of private channels.',
        ],
    [
      { strong: 'Keeping' },
      keepSignedOff ? ': signed-off clips are kept when others expire.' : ': signed-off clips expire like others.',
    ],
  ];
  return layOut([
    { kind: 'heading', line: ['Reviews'] },
    ...savedBlocks(isChanged),
    ...rows.map((line): Block => ({ kind: 'text', line })),
    { kind: 'small', line: ['To change it: ', { code: command }, ' on or off, or with an option.'] },
  ]);
}

export function tooManyChannels(most: number): string {
  return `state: reviews are on in ${formatCount(most)} channels already. Turn them off in another one first.`;
}
