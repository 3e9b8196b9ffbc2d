/**
 * `npm run bench`: the cost of Dailies, beside a bare undici loop in the same run. Each figure is measured in a process
 * of its own; figures that miss their target are printed as they are.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { asDailiesError } from '#src/errors.ts';
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
  'reports',
  'money',
  'gallery',
  'join',
  'retention',
  'sets',
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

/** Returns the names from the command line; exits with an error message if they are invalid. */
function named(): readonly string[] {
  try {
    const { positionals } = parseArgs({ allowPositionals: true });
    const wrong = positionals.find((name) => !BENCHES.some((each) => each === name));
    return wrong === undefined ? positionals : fail(`There is no benchmark ${wrong}`);
  } catch (thrown) {
    return fail(asDailiesError(thrown, 'reading the options').message);
  }
}

function fail(sentence: string): never {
  process.stderr.write(`${sentence}; npm run bench takes names, all without any: ${BENCHES.join(', ')}\n`);
  process.exit(2);
}

const wanted = named();
process.stdout.write('| what | measured | target | | remark |\n| --- | --- | --- | --- | --- |\n');
for (const name of BENCHES.filter((each) => wanted.length === 0 || wanted.includes(each))) {
  for (const figure of await measure(name)) process.stdout.write(row(figure));
}
