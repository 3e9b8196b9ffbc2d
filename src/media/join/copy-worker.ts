/** Process that reads and joins clips, so that neither their size nor what is wrong with them reaches the bot. */

import { writeSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { WritableStream } from 'node:stream/web';
import { setImmediate } from 'node:timers/promises';
import {
  EncodedAudioPacketSource,
  EncodedPacketSink,
  EncodedVideoPacketSource,
  Mp4OutputFormat,
  Output,
  StreamTarget,
  type StreamTargetChunk,
} from 'mediabunny';
import { differencesOf } from './differences.ts';
import { openClip, readShot } from './read-shot.ts';
import type { Shot, ShotDifference } from './shot.ts';
import { SAMPLES_PER_PACKET, SoundTrack } from './sound-track.ts';

export interface CopyJob {
  readonly shots: readonly {
    readonly path: string;
    /** Seconds that the shot takes in the cut; by default those of its pictures. */
    readonly seconds?: number;
  }[];
  /** Path of the file to write. */
  readonly output: string;
  /** Text of its metadata. Default: none. */
  readonly comment?: string;
}

export type CopyOutcome =
  | { readonly kind: 'copied'; readonly seconds: number }
  /** Nothing was written. */
  | { readonly kind: 'differing'; readonly shots: readonly Shot[]; readonly differences: readonly ShotDifference[] }
  /** A shot is not a video; numbered from 1. */
  | { readonly kind: 'unreadable'; readonly shot: number; readonly reason: string }
  /** `code` is that of the file system, such as `ENOSPC`. */
  | { readonly kind: 'failed'; readonly reason: string; readonly code: string | null };

async function join({ shots, output, comment = '' }: CopyJob): Promise<CopyOutcome> {
  const files: ShotFile[] = [];
  for (const [at, { path, seconds }] of shots.entries()) {
    try {
      const shot = await readShot(path);
      files.push({ path, shot: seconds === undefined ? shot : { ...shot, seconds } });
    } catch (thrown) {
      return { kind: 'unreadable', shot: at + 1, reason: reasonOf(thrown) };
    }
  }
  const differences = differencesOf(files.map(({ shot }) => shot));
  if (differences.length > 0) return { kind: 'differing', shots: files.map(({ shot }) => shot), differences };
  try {
    await copyShots(files, output, comment);
    return { kind: 'copied', seconds: files.reduce((sum, { shot }) => sum + shot.seconds, 0) };
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : null;
    return { kind: 'failed', reason: reasonOf(thrown), code };
  }
}

function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

interface ShotFile {
  readonly path: string;
  readonly shot: Shot;
}

/**
 * Copies the packets of shots that agree (`differences.ts`) into one MP4 file with its header first, one after the other,
 * and syncs it. Only a few pictures are in memory at a time.
 * @param comment text of the file's metadata; empty for none.
 */
async function copyShots(files: readonly ShotFile[], output: string, comment: string): Promise<void> {
  const [first] = files;
  if (first === undefined) throw new TypeError('there are no shots');
  const target = await open(output, 'w');
  try {
    const cut = await openCut(files, target, comment);
    let atSeconds = 0;
    for (const file of files) {
      await copyShot(cut, file, atSeconds);
      atSeconds += file.shot.seconds;
    }
    await cut.output.finalize();
    await target.sync();
  } finally {
    await target.close();
  }
}

/** Packets between two turns of the event loop. */
const PACKETS_PER_TURN = 16;

interface Cut {
  readonly output: Output;
  readonly pictures: EncodedVideoPacketSource;
  /** `null` where no shot has sound. */
  readonly sound: SoundTrack | null;
}

/** Starts the file: the space for its header is reserved by the numbers of packets. */
async function openCut(files: readonly ShotFile[], target: FileHandle, comment: string): Promise<Cut> {
  const [first] = files;
  if (first === undefined) throw new TypeError('there are no shots');
  const { codec, rotation, isMirrored } = first.shot.picture;
  const pictures = new EncodedVideoPacketSource(codec === 'hevc' ? 'hevc' : 'avc');
  const output = new Output({
    format: new Mp4OutputFormat({ fastStart: 'reserve' }),
    // Chunks of the writer would be another copy of everything.
    target: new StreamTarget(writableOf(target), { chunked: false }),
  });
  if (comment !== '') output.setMetadataTags({ comment });
  output.addVideoTrack(pictures, {
    rotation,
    flip: isMirrored,
    maximumPacketCount: files.reduce((sum, { shot }) => sum + shot.picture.packets, 0),
  });
  const sounding = files.find(({ shot }) => shot.sound !== null);
  const format = sounding?.shot.sound ?? null;
  if (sounding === undefined || format === null) {
    await output.start();
    return { output, pictures, sound: null };
  }
  const source = new EncodedAudioPacketSource('aac');
  const seconds = files.reduce((sum, { shot }) => sum + shot.seconds, 0);
  const delay = Math.max(0, first.shot.startSeconds - (first.shot.sound?.firstSeconds ?? 0));
  const packets = ((seconds + delay) * format.sampleRate) / SAMPLES_PER_PACKET;
  output.addAudioTrack(source, { maximumPacketCount: Math.ceil(packets) + 2 });
  const decoderConfig = await audioConfigOf(sounding.path);
  await output.start();
  const sound = new SoundTrack({ format, first: first.shot, add: (packet) => source.add(packet, { decoderConfig }) });
  return { output, pictures, sound };
}

/** Returns a stream into a file. Each chunk is freed once it is written: nothing else uses it. */
function writableOf({ fd }: FileHandle): WritableStream<StreamTargetChunk> {
  return new WritableStream({
    write({ data, position }) {
      for (let at = 0; at < data.length; ) at += writeSync(fd, data, at, data.length - at, position + at);
      data.buffer.transfer(0);
    },
  });
}

async function audioConfigOf(path: string): Promise<AudioDecoderConfig> {
  const { audio, close } = await openClip(path);
  try {
    const config = await audio?.getDecoderConfig();
    if (config === null || config === undefined) throw new TypeError('its sound has no decoder configuration');
    return config;
  } finally {
    close();
  }
}

async function copyShot({ pictures, sound }: Cut, { path, shot }: ShotFile, atSeconds: number): Promise<void> {
  const { video, audio, close } = await openClip(path);
  try {
    const decoderConfig = (await video.getDecoderConfig()) ?? undefined;
    const shift = atSeconds - shot.startSeconds;
    await sound?.begin(audio === null ? null : new EncodedPacketSink(audio).packets(), shift);
    let copied = 0;
    for await (const packet of new EncodedPacketSink(video).packets()) {
      // Nothing else here waits for the event loop, and so would notice that the bot has ended.
      copied += 1;
      if (copied % PACKETS_PER_TURN === 0) await setImmediate();
      const timestamp = packet.timestamp + shift;
      await sound?.writeUntil(timestamp);
      await pictures.add(packet.clone({ timestamp }), decoderConfig === undefined ? undefined : { decoderConfig });
    }
    await sound?.end(atSeconds + shot.seconds);
  } finally {
    close();
  }
}

// The bot was killed: no process would rename the file.
process.once('disconnect', () => process.exit(1));
process.once('message', (job: CopyJob) => {
  void join(job).then((outcome) => process.send?.(outcome, () => process.exit(0)));
});
