/**
 * Process whose job handlers never finish, for crash tests: `node queue-process.ts URL`. Prints `open`, and then the id
 * of each job it starts.
 */
import { pino } from 'pino';
import { systemClock } from '#src/clock.ts';
import { openBullmqQueue } from '#src/engine/queue/bullmq/queue.ts';
import { type JobHandler, queueNamesOf } from '#src/engine/queue/queue.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const endless: JobHandler = (id) => {
  say(id);
  return new Promise(() => undefined);
};

const queue = await openBullmqQueue({
  url: process.argv[2] ?? '',
  clock: systemClock,
  logger: pino({ level: 'silent' }),
  concurrency: { send: 1, poll: 1, fetch: 1, deliver: 1, notify: 1, join: 1, frame: 1 },
  names: queueNamesOf([]),
});
queue.start({
  send: endless,
  poll: endless,
  fetch: endless,
  deliver: endless,
  notify: endless,
  join: endless,
  frame: endless,
});
say('open');
