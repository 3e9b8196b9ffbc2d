import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const TESTS = join(import.meta.dirname, '../..');

it.each([
  ['chaos', ['--help'], 'Unknown option .--help.', '--seed, --runs, --replicas'],
  ['chaos', ['--seed'], '--seed', '--seed, --runs, --replicas'],
  ['chaos', ['everything'], 'everything', '--seed, --runs, --replicas'],
  ['chaos', ['--runs', 'ten'], '--runs takes a whole number from 1 on, not ten', '--seed, --runs, --replicas'],
  ['chaos', ['--parallel', '0'], '--parallel takes a whole number from 1 on, not 0', '--seed, --runs, --replicas'],
  ['chaos', ['--profile', 'key'], '--profile takes none, list, cancel, price, not key', '--seed, --runs, --replicas'],
  ['chaos', ['--store', 'paper'], '--store takes sqlite or redis, not paper', '--seed, --runs, --replicas'],
  [
    'chaos',
    ['--faults', 'kill,rain'],
    'replica, delete, token, scope, money, remove, service, key; not rain',
    '--seed, --runs, --replicas',
  ],
  ['bench', ['--help'], 'Unknown option .--help.', 'creates, polls, memory'],
  ['bench', ['pols'], 'pols', 'creates, polls, memory'],
  [
    'pictures',
    ['painting'],
    'Unknown picture painting.',
    'Available: playground, takes, compare, storyboard, review, styles, library, improve, gallery, budget, approval, policy, report, discord, slack',
  ],
] as const)(
  'npm run %s -- %j exits with one line on the error and the available options',
  (name, given, wrong, known) => {
    const main = join(TESTS, name, 'main.ts');
    const args = ['--disable-warning=ExperimentalWarning', main, ...given];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^[^\n]*${wrong}[^\n]*${known}[^\n]*\n$`));
  },
);
