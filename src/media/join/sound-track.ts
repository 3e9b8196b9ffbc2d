import { EncodedPacket } from 'mediabunny';
import type { Shot, Sound } from './shot.ts';

/** Options of {@link SoundTrack}. */
interface SoundTrackOptions {
  /** Sound of the first shot that has any; all others have the same format. */
  readonly format: Pick<Sound, 'sampleRate' | 'channels'>;
  /** The first shot of the cut. */
  readonly first: Pick<Shot, 'sound' | 'startSeconds'>;
  readonly add: (packet: EncodedPacket) => Promise<void>;
}

/**
 * Sound of a cut: an unbroken row of packets of equal length, since players differ in what they make of a gap. Each packet
 * of a shot takes the slot next to its time, so that sound is never off by more than half a packet (11 ms at 48 kHz) and
 * nothing adds up. Slots that no packet takes are silent; packets before or beyond the pictures of their shot are dropped.
 */
export class SoundTrack {
  readonly #options: SoundTrackOptions;
  readonly #packetSeconds: number;
  /** Time of slot 0 in the cut, in seconds; negative by the encoder delay of the first shot. */
  readonly #origin: number;
  #nextSlot = 0;
  #packets: AsyncIterator<EncodedPacket> | null = null;
  /** The next packet of the shot with its slot. */
  #pending: { readonly packet: EncodedPacket; readonly slot: number } | null = null;
  /** Slot and time of the first packet that the shot keeps. */
  #start: { readonly slot: number; readonly seconds: number } | null = null;
  /** Position of the shot in the cut, less the time of its first picture, in seconds. */
  #shiftSeconds = 0;

  constructor(options: SoundTrackOptions) {
    const { format, first } = options;
    this.#options = options;
    this.#packetSeconds = SAMPLES_PER_PACKET / format.sampleRate;
    const from = first.sound === null ? 0 : first.sound.firstSeconds - first.startSeconds;
    this.#origin = from <= 0 ? from : from - Math.ceil(from / this.#packetSeconds) * this.#packetSeconds;
  }

  /** Begins a shot. @param shiftSeconds its position in the cut, less the time of its first picture. */
  async begin(packets: AsyncIterator<EncodedPacket> | null, shiftSeconds: number): Promise<void> {
    this.#packets = packets;
    this.#shiftSeconds = shiftSeconds;
    this.#start = null;
    await this.#read();
  }

  /** Writes packets until `seconds` of the cut. */
  async writeUntil(seconds: number): Promise<void> {
    const end = this.#slotAt(seconds);
    while (this.#nextSlot < end) {
      while (this.#pending !== null && this.#pending.slot < this.#nextSlot) await this.#read();
      const own = this.#pending?.slot === this.#nextSlot ? this.#pending.packet.data : null;
      const timestamp = this.#origin + this.#nextSlot * this.#packetSeconds;
      const data = own ?? silence(this.#options.format.channels);
      await this.#options.add(new EncodedPacket(data, 'key', timestamp, this.#packetSeconds));
      this.#nextSlot += 1;
    }
  }

  /** Ends a shot at `seconds` of the cut; what is left of its sound is dropped. */
  async end(seconds: number): Promise<void> {
    await this.writeUntil(seconds);
    await this.#packets?.return?.();
    this.#packets = null;
    this.#pending = null;
  }

  async #read(): Promise<void> {
    this.#pending = null;
    const next = await this.#packets?.next();
    if (next === undefined || next.done === true) return;
    const { timestamp: seconds } = next.value;
    // Relative to the first packet, so that a shot’s packets take consecutive slots despite rounding.
    this.#start ??= { slot: this.#slotAt(seconds + this.#shiftSeconds), seconds };
    const slot = this.#start.slot + Math.round((seconds - this.#start.seconds) / this.#packetSeconds);
    this.#pending = { packet: next.value, slot };
  }

  /** Returns the slot nearest to a time of the cut. */
  #slotAt(seconds: number): number {
    return Math.round((seconds - this.#origin) / this.#packetSeconds);
  }
}

/** Samples in one packet of AAC-LC. */
export const SAMPLES_PER_PACKET = 1_024;

/**
 * One packet of silence as AAC-LC, at any sample rate: an element whose spectrum has no bands, then the end mark.
 * @see ISO/IEC 14496-3, 4.4.2.1 (raw_data_block): single_channel_element, channel_pair_element with common_window
 */
const SILENCE: Readonly<Record<1 | 2, Uint8Array>> = {
  1: Uint8Array.of(0x00, 0x00, 0x00, 0x07),
  2: Uint8Array.of(0x21, 0x00, 0x00, 0x00, 0x00, 0x1c),
};

function silence(channels: number): Uint8Array {
  return SILENCE[channels === 1 ? 1 : 2];
}
