import type { Handover } from '#src/chat/index.ts';
import type { Line, Optional } from '../ui/card.ts';
import { formatBytes } from './format.ts';

/** Returns the word that says of a clip that it is made with AI, where its team wants that on its cards. */
export function aiLabel({ isLabelled }: { readonly isLabelled?: boolean | undefined }): Optional<Line> {
  return isLabelled === true && [{ strong: 'AI' }];
}

/** Describes a clip's handover; no lines for a clip that is attached as it is. */
export function handoverLines(handover: Handover | null): readonly Line[] {
  if (handover === null || handover.kind === 'attached') return [];
  if (handover.kind === 'withheld') return withheldLines(handover);
  if (handover.kind === 'unshown') return [['Its message was deleted before I could post the clip. I’ve kept it.']];
  const tooLarge = sizeSentence(handover.bytes, handover.limitBytes);
  switch (handover.kind) {
    case 'fitted':
      return [[`${tooLarge}, so this is a smaller copy.`], originalLine(handover)];
    case 'linked':
      return [[`${tooLarge}. `, ...linkLine(handover.link, 'Watch it here')]];
    case 'kept':
      return [
        [`${tooLarge}. I’ve kept it on my disk.`],
        [
          'To get such clips here, your administrator can set ',
          { code: 'PUBLIC_URL' },
          ' and ',
          { code: 'LINK_SECRET' },
          ' (a link)',
          ...(handover.hasFitter === true ? [] : FITTER_ADVICE),
          '.',
        ],
      ];
  }
}

const FITTER_ADVICE: Line = [', or install ffmpeg or name it in ', { code: 'FFMPEG_PATH' }, ' (a smaller copy)'];

/** Names the upload limit only if the platform reported it; no size of a blind clip, which has 0. */
function sizeSentence(bytes: number, limitBytes: number | null): string {
  if (bytes === 0) return 'The clip is too large to post here';
  const size = formatBytes(bytes);
  return limitBytes === null
    ? `The clip is ${size}, and the chat said that it is too large`
    : `The clip is ${size} and the limit here is ${formatBytes(limitBytes)}`;
}

function withheldLines({ right, link }: Handover & { readonly kind: 'withheld' }): readonly Line[] {
  const refusal: Line = ['The chat refused the clip here: ', { untrusted: right }, '. '];
  if (link === null) return [[...refusal, 'The clip is safe; I’ll post it as soon as that works.']];
  return [[...refusal, ...linkLine(link, 'Watch it here')]];
}

function originalLine({ link }: Handover & { readonly kind: 'fitted' }): Line {
  if (link === null) {
    return [
      'For a link to the original, your administrator can set ',
      { code: 'PUBLIC_URL' },
      ' and ',
      { code: 'LINK_SECRET' },
      '.',
    ];
  }
  return linkLine(link, 'The original');
}

function linkLine({ url, expiresAtMs }: { readonly url: string; readonly expiresAtMs: number }, label: string): Line {
  return [{ link: url, label }, '; the link stops working ', { timeMs: expiresAtMs }, '.'];
}

/** Texts for channels that the bot is not in, where it can edit a message only for 15 minutes after a press. */
export const KEEP_FOLLOWING = {
  line: 'I can update this message for only 15 minutes at a time. Press Keep following to see the result.',
  label: 'Keep following',
} as const;
