/** What people type who mean a command: it must never be bought as a prompt. @see commands/slips.ts */
export const MISSPELT = [
  ...[
    'statsu',
    'stauts',
    'Status?',
    'lst',
    'lisst',
    'ls',
    'cancle 1234',
    'cancell',
    'retyr abcd1234',
    'modles',
    'model',
  ],
  ...['usge', 'notfy', 'hlep', 'halp', 'creat a fox', 'stop', 'delete abcd1234', 'history', 'cost', 'price', 'stats'],
  ...['balance', 'settings', 'config', 'login', 'h', '?', '-h', '--help', 'a fox --help', '"', "''", '1984', '🦊'],
  ...['test', 'hello', 'ping'],
] as const;

/** Options that are misspelt or in the wrong place, inside a prompt. */
export const FLAGS_IN_PROMPTS = [
  ...['a fox -s 6', 'a fox −−seconds 6', 'a fox--seconds 6', 'a fox -- seconds 6', 'a fox (--seconds 4)'],
  '"a fox --seconds 6"',
] as const;
