import type { Picture, Shot, ShotDifference, Sound } from './shot.ts';

/** Codecs whose decoder configuration is in the file's header, so that it can be compared. */
const VIDEO_CODECS: readonly string[] = ['avc', 'hevc'];
/** AAC-LC, whose silence is known (`sound-track.ts`). */
const AUDIO_CODEC = 'mp4a.40.2';
const CHANNELS: readonly number[] = [1, 2];
/** Frame rates closer than this are equal. */
const FRAME_RATE_TOLERANCE = 0.01;

/**
 * Compares the shots of a cut with the first, and with what can be copied at all. Silent shots agree with any sound:
 * silence is inserted. @returns what stands against copying the packets; empty if nothing does.
 */
export function differencesOf(shots: readonly Shot[]): readonly ShotDifference[] {
  const [first] = shots;
  if (first === undefined) return [];
  const firstSound = shots.find(({ sound }) => sound !== null)?.sound ?? null;
  return shots.flatMap((shot, at) => {
    const found = [...picture(shot, first), ...sound(shot.sound, firstSound), ...edits(shot)];
    return found.map((one) => ({ shot: at + 1, ...one }));
  });
}

type Found = Omit<ShotDifference, 'shot'>;

function picture(shot: Shot, first: Shot): readonly Found[] {
  const [one, other] = [shot.picture, first.picture];
  if (!VIDEO_CODECS.includes(one.codec)) return [differing('video_codec', one.codec, VIDEO_CODECS.join(' or '))];
  if (one.codec !== other.codec) return [differing('video_codec', one.codec, other.codec)];
  const found: Found[] = [];
  if (sizeOf(one) !== sizeOf(other)) found.push(differing('size', sizeOf(one), sizeOf(other)));
  if (turnOf(one) !== turnOf(other)) found.push(differing('rotation', turnOf(one), turnOf(other)));
  if (one.parameters === other.parameters || found.length > 0) return found;
  // The parameters hold the frame rate, too, which says more to people.
  if (Math.abs(shot.frameRate / first.frameRate - 1) > FRAME_RATE_TOLERANCE)
    return [differing('frame_rate', rateOf(shot), rateOf(first))];
  return [differing('codec_parameters', '', '')];
}

function sound(one: Sound | null, other: Sound | null): readonly Found[] {
  if (one === null || other === null) return [];
  if (one.codec !== AUDIO_CODEC) return [differing('audio_codec', one.codec, AUDIO_CODEC)];
  if (!CHANNELS.includes(one.channels)) return [differing('channels', `${one.channels}`, CHANNELS.join(' or '))];
  const found: Found[] = [];
  if (one.sampleRate !== other.sampleRate)
    found.push(differing('sample_rate', `${one.sampleRate} Hz`, `${other.sampleRate} Hz`));
  if (one.channels !== other.channels) found.push(differing('channels', `${one.channels}`, `${other.channels}`));
  if (found.length === 0 && one.parameters !== other.parameters) found.push(differing('codec_parameters', '', ''));
  return found;
}

function edits({ hasEdits }: Shot): readonly Found[] {
  return hasEdits ? [differing('edit_list', '', '')] : [];
}

function differing(property: ShotDifference['property'], value: string, expected: string): Found {
  return { property, value, expected };
}

/** Returns the size as shown, with the coded one where pixels are not square. */
function sizeOf({ width, height, codedWidth, codedHeight, rotation }: Picture): string {
  const coded = rotation % 180 === 0 ? `${codedWidth}×${codedHeight}` : `${codedHeight}×${codedWidth}`;
  const shown = `${width}×${height}`;
  return coded === shown ? shown : `${shown} (${coded})`;
}

function turnOf({ rotation, isMirrored }: Picture): string {
  return `${rotation}°${isMirrored ? ', mirrored' : ''}`;
}

function rateOf({ frameRate }: Shot): string {
  return `${Math.round(frameRate * 100) / 100} fps`;
}
