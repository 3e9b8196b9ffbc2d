import type { Handover } from '#src/chat/view.ts';
import type { Line } from '../card.ts';
import { formatBytes } from './format.ts';

/** What is to be said of how a clip was handed over; nothing for the clip itself. */
export function handoverLines(handover: Handover | null): readonly Line[] {
  if (handover === null || handover.kind === 'attached') return [];
  if (handover.kind === 'withheld') return withheldLines(handover);
  const tooLarge = `The clip has ${formatBytes(handover.bytes)}, more than the ${formatBytes(handover.limitBytes)} this chat takes`;
  switch (handover.kind) {
    case 'fitted':
      return [[`${tooLarge}, so this is a smaller copy.`], originalLine(handover)];
    case 'linked':
      return [
        [
          `${tooLarge}. `,
          { link: handover.link.url, label: 'Watch it here' },
          '; the link stops working ',
          { timeMs: handover.link.expiresAtMs },
          '.',
        ],
      ];
    case 'kept':
      return [
        [`${tooLarge}. I keep it on my disk.`],
        [
          'To get such clips here, whoever runs me sets ',
          { code: 'PUBLIC_URL' },
          ' and ',
          { code: 'LINK_SECRET' },
          ' (a link), or installs ffmpeg or names it in ',
          { code: 'FFMPEG_PATH' },
          ' (a smaller copy).',
        ],
      ];
  }
}

function withheldLines({ right, link }: Handover & { readonly kind: 'withheld' }): readonly Line[] {
  const refusal: Line = ['The chat did not take the clip here: ', { untrusted: right }, '. '];
  if (link === null) return [[...refusal, 'I keep it, and put it here once I may.']];
  return [
    [
      ...refusal,
      { link: link.url, label: 'Watch it here' },
      '; the link stops working ',
      { timeMs: link.expiresAtMs },
      '.',
    ],
  ];
}

function originalLine({ link }: Handover & { readonly kind: 'fitted' }): Line {
  if (link === null) {
    return [
      'For a link to the original, whoever runs me sets ',
      { code: 'PUBLIC_URL' },
      ' and ',
      { code: 'LINK_SECRET' },
      '.',
    ];
  }
  return [{ link: link.url, label: 'The original' }, '; the link stops working ', { timeMs: link.expiresAtMs }, '.'];
}
