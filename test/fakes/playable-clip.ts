import { createEncoder } from '#src/sandbox/render/encoder.ts';
import { FRAMES_PER_SECOND } from '#src/sandbox/render/job.ts';

const SIZE = { width: 160, height: 90 };

/** Returns an MP4 of one second that a browser plays: a grey that grows lighter. */
export async function playableClip(): Promise<Buffer> {
  const encoder = await createEncoder(SIZE);
  for (let frame = 0; frame < FRAMES_PER_SECOND; frame += 1) {
    encoder.add(new Uint8Array(SIZE.width * SIZE.height * 4).fill(frame * 10));
  }
  return encoder.finish();
}
