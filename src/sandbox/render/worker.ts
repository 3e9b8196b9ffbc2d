import { writeFile } from 'node:fs/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { writeWhole } from '../../files.ts';
import { loadFonts } from '../../fonts.ts';
import { createEncoder } from './encoder.ts';
import { FRAMES_PER_SECOND, type RenderJob } from './job.ts';
import { createPainter } from './painter.ts';
import { readReference } from './reference.ts';

// Entry point of a render thread: runs the one job in `workerData` and posts the encoded share, 0 to 1, after every
// frame. It exits with 0 once the MP4 is on disk; a failure ends it with an error.

const job = workerData as RenderJob;

loadFonts();
const prints = await Promise.all(job.images.map((source) => readReference(source, job.isLoopbackAllowed)));
const painter = createPainter(job, prints);
const encoder = await createEncoder(painter.size);
const frames = job.seconds * FRAMES_PER_SECOND;
const failsMidway = job.steering === 'fail' || job.steering === 'moderated_later';
for (let frame = 0; frame < frames; frame++) {
  if (failsMidway && frame >= frames / 2) throw new Error('the prompt asked for a failure');
  encoder.add(painter.paint(frame / FRAMES_PER_SECOND));
  parentPort?.postMessage((frame + 1) / frames);
}
const bytes = await encoder.finish();
await writeWhole(job.path, (part) => writeFile(part, bytes, { flush: true }));
