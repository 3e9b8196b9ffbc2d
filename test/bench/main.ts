/**
 * `npm run bench`: what Dailies costs, beside a bare undici loop in the same run. Each figure is measured in a process
 * of its own; what falls short of its target is printed as it is.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Figure } from './figure.ts';

const BENCHES = [
  'creates',
  'polls',
  'memory',
  'resume',
  'acknowledge',
  'delivery',
  'discord-upload',
  'discord-burst',
  'redis-polls',
  'redis-creates',
  'takeover',
] as const;

async function measure(name: string): Promise<readonly Figure[]> {
  const child = fork(new URL(`./${name}.ts`, import.meta.url), {
    execArgv: ['--expose-gc', '--disable-warning=ExperimentalWarning'],
  });
  const [[figures]] = (await Promise.all([once(child, 'message'), once(child, 'exit')])) as [
    [readonly Figure[]],
    unknown,
  ];
  return figures;
}

function row({ what, measured, target, isMet, remark }: Figure): string {
  const verdict = isMet === null ? '' : isMet ? 'met' : 'SHORT';
  return `| ${what} | ${measured} | ${target} | ${verdict} | ${remark} |\n`;
}

const wanted = process.argv.slice(2);
process.stdout.write('| what | measured | target | | remark |\n| --- | --- | --- | --- | --- |\n');
for (const name of BENCHES.filter((each) => wanted.length === 0 || wanted.includes(each))) {
  for (const figure of await measure(name)) process.stdout.write(row(figure));
}
