import type { CutView } from '#src/chat/index.ts';
import type { ShotDifference, ShotProperty } from '#src/media/index.ts';
import type { CutFailure } from '#src/orders/index.ts';
import { button } from '../../ui/buttons.ts';
import { type Card, facts, item, type Line, layOut, type Part, small } from '../../ui/card.ts';
import { all, count, formatBytes, formatElapsed } from '../format.ts';
import { aiLabel, handoverLines } from '../handover.ts';
import { promptPart } from '../removal.ts';

/** Longest prompt of a shot in the message of a cut. */
const PROMPT_LENGTH = 60;

/** Renders the message of a cut: its shots, length and size, or why there is none. */
export function cutCard(view: CutView): Card {
  const { shots, file, failure } = view;
  const number = count(shots.length, 'shot');
  const isPending = file === null && failure === null;
  const title = failure === null ? (isPending ? `Joining ${number}…` : `Cut of ${number}`) : `Couldn’t join ${number}`;
  const ordered = `${shots.reduce((sum, { seconds }) => sum + seconds, 0)} s`;
  const made = file === null ? [ordered] : [formatElapsed(file.seconds * 1_000), formatBytes(file.bytes)];
  return layOut(
    [
      item([{ strong: title }], facts(aiLabel(view), ...made, [{ person: view.by }])),
      ...(failure === null ? handoverLines(view.handover) : failureLines(failure)),
      ...shots.map((shot, at) => small(...shotLine(shot, at))),
    ],
    { buttons: failure === null ? [] : [button({ action: 'join', task: view.id }, 'Join again', 'primary')] },
  );
}

function shotLine({ prompt, seconds }: CutView['shots'][number], at: number): Line {
  const what: Part = prompt === null ? 'its prompt was removed' : promptPart(prompt, PROMPT_LENGTH);
  return [`${at + 1}. `, what, ` · ${seconds} s`];
}

function failureLines(failure: CutFailure): readonly Line[] {
  switch (failure.code) {
    case 'clip_missing':
      return [[missingShots(failure.shots)]];
    case 'not_a_video':
      return [[`I can’t read shot ${failure.shot} as a video. Retry it or leave it out, then join again.`]];
    case 'hdr':
      return [[`Shot ${failure.shot} is HDR, and I can’t convert its colours here. ${HDR_REMEDY}`]];
    case 'not_converted':
      return [[`ffmpeg failed to convert shot ${failure.shot}. Your administrator can find its words in the log.`]];
    case 'timed_out':
      return [['Joining took too long, so I stopped it. Try again when less is going on here.']];
    case 'disk_full':
      return [['My disk is full. Your administrator has to free some space; then join again.']];
    case 'failed':
      return [['Something went wrong while I joined them. Your administrator can find it in the log.']];
    case 'shots_differ':
      return differenceLines(failure.differences);
  }
}

const HDR_REMEDY = 'Leave it out, or ask your administrator for an ffmpeg with zscale; then join again.';

function differenceLines(differences: readonly ShotDifference[]): readonly Line[] {
  const byShot = [...Map.groupBy(differences, ({ shot }) => shot)];
  return [
    ['They differ too much to be put together as they are:'],
    ...byShot.map(
      ([shot, some]): Line => ['• ', `shot ${shot}: `, { untrusted: some.map(differenceWords).join(', ') }],
    ),
    [
      'Retry them with the settings of the first shot, or ask your administrator to install ffmpeg or to name it in ',
      { code: 'FFMPEG_PATH' },
      ': with it, I can convert them.',
    ],
  ];
}

const PROPERTIES: Readonly<Record<ShotProperty, string>> = {
  video_codec: 'video codec',
  size: 'size',
  rotation: 'rotation',
  frame_rate: 'frame rate',
  codec_parameters: 'other encoder settings',
  audio_codec: 'audio codec',
  sample_rate: 'sample rate',
  channels: 'audio channels',
  edit_list: 'parts that are cut away',
};

function differenceWords({ property, value, expected }: ShotDifference): string {
  const name = PROPERTIES[property];
  return value === '' ? name : `${name} ${value} instead of ${expected}`;
}

/** Says which shots have no clip, and what to do. */
export function missingShots(shots: readonly number[]): string {
  const numbers = all(shots.map(String));
  return shots.length === 1
    ? `Shot ${numbers} has no clip. Retry it or leave it out, then join again.`
    : `Shots ${numbers} have no clip. Retry them or leave them out, then join again.`;
}
