import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import {
  CustomSource,
  EncodedPacketSink,
  Input,
  type InputAudioTrack,
  type InputTrack,
  type InputVideoTrack,
  MATROSKA,
  MP4,
  QTFF,
  WEBM,
} from 'mediabunny';
import { type Edits, readEdits } from './edit-list.ts';
import type { Picture, Shot, Sound } from './shot.ts';
import { SAMPLES_PER_PACKET } from './sound-track.ts';

interface OpenClip {
  readonly video: InputVideoTrack;
  /** `null` for a silent clip. */
  readonly audio: InputAudioTrack | null;
  readonly close: () => void;
}

/** Formats of single files: a playlist would name other files to read. */
const FORMATS = [MP4, QTFF, MATROSKA, WEBM];
/** A picture of 8K at the highest quality has about 20 MB; a larger size is a damaged or hostile header. */
const MAX_PACKET_BYTES = 48 * 1024 ** 2;
/** Sound that an edit list may hide at the end without being missed: what encoders append, with room for rounding. */
const AUDIO_END_SECONDS = 0.1;
/** Rounding of the movie's time scale in edit lists, usually 1 ms. */
const ROUNDING_SECONDS = 0.002;

/** Opens a clip. @throws Error if it is not a video. */
export async function openClip(path: string): Promise<OpenClip> {
  const input = new Input({ source: openSource(path), formats: FORMATS });
  const close = (): void => input.dispose();
  try {
    const video = await input.getPrimaryVideoTrack();
    if (video === null) throw new TypeError('it has no video track');
    return { video, audio: await input.getPrimaryAudioTrack(), close };
  } catch (thrown) {
    close();
    throw thrown;
  }
}

/** Reads the properties of a clip from its header. @throws Error if it is not a video, or damaged. */
export async function readShot(path: string): Promise<Shot> {
  const edits = await readEdits(path);
  const { video, audio, close } = await openClip(path);
  try {
    const pictures = await extentOf(video);
    if (pictures.packets === 0) throw new TypeError('it has no picture');
    const sounds = audio === null ? null : await extentOf(audio);
    const frame = pictures.seconds / pictures.packets;
    const shown = edits.get(video.id);
    const startSeconds = Math.max(0, pictures.fromSeconds);
    const seconds = Math.min(pictures.untilSeconds - startSeconds, shown?.seconds ?? Number.POSITIVE_INFINITY);
    const hidesPictures = pictures.fromSeconds < -ROUNDING_SECONDS || hides(shown, pictures.seconds - frame / 2);
    const heardSeconds = sounds === null ? 0 : Math.min(sounds.untilSeconds, startSeconds + seconds);
    const hidesSound = audio !== null && hides(edits.get(audio.id), heardSeconds - AUDIO_END_SECONDS);
    return {
      seconds,
      startSeconds,
      frameRate: pictures.packets / pictures.seconds,
      picture: await pictureOf(video, pictures.packets),
      sound: audio === null || sounds === null || sounds.packets === 0 ? null : await soundOf(audio, sounds),
      hasEdits: hidesPictures || hidesSound,
    };
  } finally {
    close();
  }
}

function hides(edits: Edits | undefined, neededSeconds: number): boolean {
  return edits !== undefined && (!edits.isOnePiece || edits.seconds < neededSeconds - ROUNDING_SECONDS);
}

interface Extent {
  readonly fromSeconds: number;
  readonly untilSeconds: number;
  /** From the first to the end of the last packet. */
  readonly seconds: number;
  readonly packets: number;
  /** Most frequent duration of a packet in seconds. */
  readonly packetSeconds: number;
}

async function extentOf(track: InputTrack): Promise<Extent> {
  const durations = new Map<number, number>();
  let [fromSeconds, untilSeconds, packets] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0];
  const metadata = new EncodedPacketSink(track).packets(undefined, undefined, { metadataOnly: true });
  for await (const { timestamp, duration, byteLength, type } of metadata) {
    if (byteLength > MAX_PACKET_BYTES) throw new RangeError(`a packet of ${byteLength} bytes`);
    if (packets === 0 && type !== 'key') throw new TypeError('its first picture depends on one before it');
    packets += 1;
    fromSeconds = Math.min(fromSeconds, timestamp);
    untilSeconds = Math.max(untilSeconds, timestamp + duration);
    durations.set(duration, (durations.get(duration) ?? 0) + 1);
  }
  const [packetSeconds] = [...durations].reduce((most, one) => (one[1] > most[1] ? one : most), [0, 0]);
  return { fromSeconds, untilSeconds, seconds: untilSeconds - fromSeconds, packets, packetSeconds };
}

async function pictureOf(video: InputVideoTrack, packets: number): Promise<Picture> {
  const config = await video.getDecoderConfig();
  const { matrix = null, transfer } = await video.getColorSpace();
  // TypeScript's list of transfers lacks those of HDR.
  const hdr = (['pq', 'hlg'] as const).find((one) => one === (transfer as string)) ?? null;
  return {
    codec: (await video.getCodec()) ?? 'unknown',
    parameters: hexOf(config?.description),
    width: await video.getDisplayWidth(),
    height: await video.getDisplayHeight(),
    codedWidth: await video.getCodedWidth(),
    codedHeight: await video.getCodedHeight(),
    rotation: await video.getRotation(),
    isMirrored: await video.getFlip(),
    matrix,
    hdr,
    packets,
  };
}

async function soundOf(audio: InputAudioTrack, { fromSeconds, packets, packetSeconds }: Extent): Promise<Sound> {
  const config = await audio.getDecoderConfig();
  const sampleRate = await audio.getSampleRate();
  const samples = Math.round(packetSeconds * sampleRate);
  const codec = config?.codec ?? 'unknown';
  return {
    // AAC has a variant with 960 samples.
    codec: samples === SAMPLES_PER_PACKET ? codec : `${codec} with packets of ${samples} samples`,
    parameters: hexOf(config?.description),
    sampleRate,
    channels: await audio.getNumberOfChannels(),
    firstSeconds: fromSeconds,
    packets,
  };
}

function hexOf(description: AllowSharedBufferSource | undefined): string {
  if (description === undefined) return '';
  const view = ArrayBuffer.isView(description) ? description : new Uint8Array(description);
  return Buffer.from(view.buffer, view.byteOffset, view.byteLength).toString('hex');
}

/** Bytes read at once for small reads: headers, and packets of sound. */
const WINDOW_BYTES = 256 * 1024;

/**
 * Opens a clip for reading, in the process that does nothing else: reads block, and all of them use the same two buffers,
 * since Mediabunny copies what it is given where it caches nothing. That halves what has to be collected.
 */
function openSource(path: string): CustomSource {
  const file = openSync(path, 'r');
  const window = new Uint8Array(WINDOW_BYTES);
  let [windowFrom, windowUntil] = [0, 0];
  let large = new Uint8Array(0);
  const read = (from: number, until: number): Uint8Array => {
    const bytes = until - from;
    if (bytes > WINDOW_BYTES / 2) {
      if (large.length < bytes) large = new Uint8Array(bytes);
      return large.subarray(0, fill(file, large.subarray(0, bytes), from));
    }
    if (from < windowFrom || until > windowUntil) {
      windowFrom = from;
      windowUntil = from + fill(file, window, from);
    }
    return window.subarray(from - windowFrom, until - windowFrom);
  };
  return new CustomSource({
    getSize: () => fstatSync(file).size,
    read,
    dispose: () => closeSync(file),
    maxCacheSize: 0,
    prefetchProfile: 'none',
  });
}

/** Reads until a buffer is full, or the file ends. @returns the number of bytes that were read */
function fill(file: number, buffer: Uint8Array, from: number): number {
  let filled = 0;
  while (filled < buffer.length) {
    const bytes = readSync(file, buffer, filled, buffer.length - filled, from + filled);
    if (bytes === 0) break;
    filled += bytes;
  }
  return filled;
}
