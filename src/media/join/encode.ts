import { ENCODER_THREADS, inputArguments, runFfmpeg } from '../ffmpeg.ts';
import type { Shot } from './shot.ts';

/** Frame rate of an encoded cut. */
export const FRAMES_PER_SECOND = 30;
const AUDIO_BITS_PER_SECOND = 160_000;
const SAMPLE_RATE = 48_000;
/** Constant quality of x264; 18 is hardly told from the original. */
const QUALITY = 18;
const KEY_FRAME_EVERY = 2 * FRAMES_PER_SECOND;
/** Lines from which on players take pictures that do not say their colours for BT.709; below, for BT.601. */
const HD_LINES = 720;
/** Timeout of one shot: minutes of 4K on two threads. */
const ENCODE_TIMEOUT_MS = 10 * 60_000;

interface Encoding {
  readonly ffmpeg: string;
  readonly path: string;
  readonly shot: Shot;
  /** Pictures that the shot takes in the cut, at {@link FRAMES_PER_SECOND}. */
  readonly frames: number;
  /** The first shot, whose size the cut has. */
  readonly first: Shot;
  /** Path of the file to write. */
  readonly output: string;
  readonly signal: AbortSignal;
}

/**
 * Returns the pictures of each shot at {@link FRAMES_PER_SECOND}. Each shot ends at the picture nearest to its end in the
 * cut, so that rounding does not add up.
 */
export function framesOf(shots: readonly Pick<Shot, 'seconds'>[]): readonly number[] {
  let [seconds, before] = [0, 0];
  return shots.map((shot) => {
    seconds += shot.seconds;
    const frames = Math.max(1, Math.round(seconds * FRAMES_PER_SECOND) - before);
    before += frames;
    return frames;
  });
}

/**
 * Encodes one shot in the format of the cut: H.264 in the size of the first shot, with bars where the aspect differs, and
 * AAC in stereo where it has sound. All shots encoded for one first shot agree.
 * @throws Error with the output of ffmpeg
 */
export function encodeShot({ ffmpeg, path, shot, frames, first, output, signal }: Encoding): Promise<void> {
  const seconds = frames / FRAMES_PER_SECOND;
  const [width, height] = [evenOf(first.picture.width), evenOf(first.picture.height)];
  const { matrix, codedHeight, hdr } = shot.picture;
  // What players assume where the file does not say.
  const assumed = matrix === null ? `:in_color_matrix=${codedHeight < HD_LINES ? 'bt601' : 'bt709'}` : '';
  const pictures = [
    // Stretched by less than half a picture, so that their number is as calculated.
    `setpts=(PTS-STARTPTS)*${seconds / shot.seconds}`,
    `fps=${FRAMES_PER_SECOND}`,
    // An edit list may show the last picture for longer.
    `tpad=stop_mode=clone:stop=${frames}`,
    `trim=end_frame=${frames}`,
    // Square pixels first: the next step compares sizes only.
    `scale='trunc(iw*sar/2)*2':'trunc(ih/2)*2'`,
    ...(hdr === null ? [] : [toneMapping(hdr)]),
    `scale=${width}:${height}:force_original_aspect_ratio=decrease${assumed}:out_color_matrix=bt709:out_range=tv`,
    `pad=${width}:${height}:(ow-iw)/2:(oh-ih)/2`,
    'setsar=1',
    'format=yuv420p',
  ];
  const x264 = ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', `${QUALITY}`, '-profile:v', 'high'];
  const stream = ['-g', `${KEY_FRAME_EVERY}`, '-bsf:v', `h264_metadata=${COLOUR}`];
  const video = ['-map', '0:v:0', '-vf', pictures.join(','), ...x264, ...stream];
  const sounds = [
    `asetpts=PTS-${shot.startSeconds}/TB`,
    // Silence before a late beginning, and in gaps.
    `aresample=${SAMPLE_RATE}:async=1:first_pts=0`,
    `atrim=0:${seconds}`,
  ];
  const aac = ['-c:a', 'aac', '-b:a', `${AUDIO_BITS_PER_SECOND}`, '-ar', `${SAMPLE_RATE}`, '-ac', '2'];
  const audio = ['-map', '0:a:0', '-af', sounds.join(','), ...aac];
  const sound = shot.sound === null ? ['-an'] : audio;
  // Without -copyts, ffmpeg moves the clip to 0, sound and pictures alike, and its start would be unknown.
  const options = [...inputArguments(path), '-copyts', ...video, ...sound, ...ENCODER_THREADS, '-f', 'mp4', output];
  return runFfmpeg(ffmpeg, options, { timeoutMs: ENCODE_TIMEOUT_MS, signal });
}

/** Maps HDR to the colours of the cut, 100 nits to white. Needs `zscale`, which is optional in ffmpeg. */
function toneMapping(hdr: 'pq' | 'hlg'): string {
  const input = `tin=${hdr === 'pq' ? 'smpte2084' : 'arib-std-b67'}:min=bt2020nc:pin=bt2020:rin=tv`;
  const linear = `zscale=${input}:t=linear:p=bt709:npl=100,format=gbrpf32le`;
  return `${linear},tonemap=mobius,zscale=tin=linear:pin=bt709:t=bt709:p=bt709:m=bt709:r=tv,format=yuv420p`;
}

/** The same colour description in every shot: otherwise ffmpeg copies that of its source into the parameter sets. */
const COLOUR = [
  'colour_primaries=1',
  'transfer_characteristics=1',
  'matrix_coefficients=1',
  'video_full_range_flag=0',
  'chroma_sample_loc_type=0',
].join(':');

function evenOf(pixels: number): number {
  return Math.max(2, Math.floor(pixels / 2) * 2);
}
