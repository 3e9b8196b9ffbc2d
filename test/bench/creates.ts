/** Creates per second, and the overhead of Dailies per create: claim, lease and response stored, each on disk. */
import { join } from 'node:path';
import { report } from './figure.ts';
import { inFolder, startUpstream } from './house.ts';
import { AT_ONCE, measureCreates } from './ordering.ts';

const upstream = await startUpstream();
await inFolder(async (folder) => {
  const at = { baseUrl: upstream.baseUrl, url: `sqlite:${join(folder, 'store.db')}` };
  const { bareMs, oursMs, bareRate, ourRate } = await measureCreates(at);
  const addedMs = oursMs - bareMs;
  report([
    {
      what: 'added to one create, median',
      measured: `${addedMs.toFixed(2)} ms`,
      target: 'at most 2 ms',
      isMet: addedMs <= 2,
      remark: `bare undici POST ${bareMs.toFixed(2)} ms, with Dailies ${oursMs.toFixed(2)} ms; three commits to disk`,
    },
    {
      what: `creates, ${AT_ONCE} at a time`,
      measured: `${Math.round(ourRate)}/s`,
      target: '',
      isMet: null,
      remark: `bare undici loop ${Math.round(bareRate)}/s`,
    },
  ]);
});
upstream.stop();
