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

export function silence(channels: number): Uint8Array {
  return SILENCE[channels === 1 ? 1 : 2];
}
