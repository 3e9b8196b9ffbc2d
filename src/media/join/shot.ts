/** One clip of a cut, as far as joining depends on it. Plain data: it crosses from one process to another. */
export interface Shot {
  /** Seconds for which its picture is shown. The shots of a cut follow each other by these. */
  readonly seconds: number;
  /** Time of its first picture on the clip's own time line, in seconds. The sound is shifted by it as well. */
  readonly startSeconds: number;
  /** Average frames per second. */
  readonly frameRate: number;
  readonly picture: Picture;
  /** `null` for a silent clip. */
  readonly sound: Sound | null;
  /** An edit list hides pictures or sound: a copy of the packets would show them. */
  readonly hasEdits: boolean;
}

export interface Picture {
  /** Name of the codec, such as `avc`; `unknown` for one that cannot be copied. */
  readonly codec: string;
  /** Decoder configuration (avcC, hvcC) in hexadecimal digits: profile, level, parameter sets. */
  readonly parameters: string;
  /** Size in pixels as shown, after rotation. */
  readonly width: number;
  readonly height: number;
  /** Size in pixels as coded. */
  readonly codedWidth: number;
  readonly codedHeight: number;
  /** Clockwise, in degrees. */
  readonly rotation: 0 | 90 | 180 | 270;
  readonly isMirrored: boolean;
  /** Matrix of its colours, such as `bt709`; `null` where the file does not say. */
  readonly matrix: string | null;
  /** Transfer of high dynamic range; `null` for any other. */
  readonly hdr: 'pq' | 'hlg' | null;
  readonly packets: number;
}

export interface Sound {
  /** Codec string of RFC 6381, such as `mp4a.40.2`. */
  readonly codec: string;
  /** Decoder configuration (AudioSpecificConfig) in hexadecimal digits. */
  readonly parameters: string;
  /** Samples per second. */
  readonly sampleRate: number;
  readonly channels: number;
  /** Time of the first packet, encoder delay included, in seconds. */
  readonly firstSeconds: number;
  readonly packets: number;
}

/** Properties in which the shots of a cut have to agree to be copied. */
export type ShotProperty =
  | 'video_codec'
  | 'size'
  | 'rotation'
  | 'frame_rate'
  | 'codec_parameters'
  | 'audio_codec'
  | 'sample_rate'
  | 'channels'
  | 'edit_list';

/** Why the packets of a shot cannot be copied into the cut. */
export interface ShotDifference {
  /** Number of the shot in the cut, from 1. */
  readonly shot: number;
  readonly property: ShotProperty;
  /** Value of this shot, such as `1280×720`; empty where it means nothing to people. */
  readonly value: string;
  /** Value that it should have: that of the first shot, or what can be copied at all; empty as above. */
  readonly expected: string;
}
