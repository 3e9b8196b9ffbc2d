import { describe, expect, it } from 'vitest';
import { PLATFORM_CONFIGS } from '#adapters/registry.ts';
import { ConfigError, readConfig as readConfigOf } from '#src/config/config.ts';

type Env = Readonly<Record<string, string | undefined>>;

const readConfig = (env: Env) => readConfigOf(env, PLATFORM_CONFIGS);

function problemsOf(env: Env): readonly string[] {
  try {
    readConfig(env);
  } catch (thrown) {
    if (thrown instanceof ConfigError) return thrown.problems;
    throw thrown;
  }
  return [];
}

const SECRET = 'hunter2-hunter2-hunter2';
const SERVICE = { VIDEO_API_BASE_URL: 'https://videos.example', VIDEO_API_TOKEN: SECRET };

/** An invalid value for every variable that can be invalid by itself. */
const WRONG = {
  VIDEO_API_BASE_URL: 'http://videos.example',
  VIDEO_API_TOKEN: 'hunter2 ',
  STORE_URL: `mysql://root:${SECRET}@db`,
  DISCORD_API_URL: 'ftp://discord.example',
  DISCORD_GUILD_ID: 'my server',
  DISCORD_USER_INSTALL: 'yes',
  SLACK_GUESTS: '1',
  SLACK_EXTERNAL: 'true',
  ALLOW_TEAMS: 'slack:acme',
  ADMINS: 'slack:U1, ada',
  SLACK_API_URL: 'slack',
  HOST: 'here and there',
  PORT: '70000',
  PUBLIC_URL: 'clips.example',
  LINK_SECRET: 'hunter2',
  POLL_FIRST_MS: '-1',
  POLL_MIN_MS: '9',
  POLL_MAX_MS: 'soon',
  TASK_DEADLINE_MS: '0',
  CREATE_TIMEOUT_MS: '1.5',
  REQUEST_TIMEOUT_MS: '2147483648',
  MAX_CONCURRENT_CREATES: '0',
  MAX_CONCURRENT_POLLS: '10001',
  MAX_CONCURRENT_DELIVERIES: 'many',
  MAX_CREATES_PER_MINUTE: '-1',
  MAX_POLLS_PER_SECOND: 'all',
  BUDGET_PER_MONTH: '500',
  KEEP_CLIPS_DAYS: '-1',
  KEEP_PROMPTS_DAYS: '36501',
  MAX_DATA_BYTES: '200',
  PROGRESS_EDIT_MS: '3s',
  PLAYGROUND: 'yes',
  PLAYGROUND_TOKEN: 'hunter2',
  LOG_LEVEL: 'loud',
} as const;

describe('an empty configuration', () => {
  it('uses the sandbox, the embedded store and the playground, on loopback', () => {
    expect(readConfig({})).toEqual({
      storeUrl: 'sqlite:data/dailies.db',
      dataDir: 'data',
      media: { maxLocalBytes: 4_294_967_296 },
      platforms: {},
      access: { teams: null, admits: [] },
      admins: [],
      http: { host: '127.0.0.1', port: 3_000 },
      poll: { firstMs: 1_000, minMs: 1_000, maxMs: 30_000, deadlineMs: 1_800_000 },
      createTimeoutMs: 60_000,
      requestTimeoutMs: 30_000,
      maxRate: { createsPerMinute: 0, pollsPerSecond: 0 },
      maxConcurrent: { creates: 8, polls: 32, deliveries: 4 },
      limits: { person: { open: 5, perMinute: 10 }, channel: { open: 20, perMinute: 30 } },
      retention: { clipsDays: 0, promptsDays: 0 },
      maxDataBytes: null,
      refunds: 'assumed',
      budgetPerMonth: {},
      progressEditMs: 3_000,
      playground: { isOn: true },
      logLevel: 'info',
    });
  });

  it('is the same with empty and unknown variables', () => {
    expect(readConfig({ PORT: '', VIDEO_API_TOKEN: ' ', PLAYGROUND: undefined, PATH: '/bin', HOME: '' })).toEqual(
      readConfig({}),
    );
  });
});

describe('a complete configuration', () => {
  it('is read', () => {
    const env = {
      ...SERVICE,
      VIDEO_API_BASE_URL: 'https://videos.example/base///',
      MODEL_CATALOG: 'models.json',
      STORE_URL: 'rediss://cache.example:6380/1',
      DISCORD_TOKEN: 'd',
      DISCORD_API_URL: 'https://discord.example/api',
      DISCORD_GUILD_ID: '123456789012345678',
      DISCORD_USER_INSTALL: 'on',
      ALLOW_TEAMS: 'slack:T1, discord:12345',
      ADMINS: 'slack:U1, discord:2,playground:ada',
      SLACK_GUESTS: 'on',
      SLACK_EXTERNAL: 'on',
      SLACK_BOT_TOKEN: 'xoxb',
      SLACK_APP_TOKEN: 'xapp',
      SLACK_SIGNING_SECRET: 'sign',
      SLACK_CLIENT_ID: 'ci',
      SLACK_CLIENT_SECRET: 'cs',
      SLACK_STATE_SECRET: 'ss',
      SLACK_API_URL: 'http://127.0.0.1:9/api/',
      HOST: '0.0.0.0',
      PORT: '0',
      PUBLIC_URL: 'https://clips.example/',
      LINK_SECRET: SECRET,
      POLL_FIRST_MS: '0',
      POLL_MIN_MS: '10',
      POLL_MAX_MS: '10',
      TASK_DEADLINE_MS: '1',
      CREATE_TIMEOUT_MS: '2',
      REQUEST_TIMEOUT_MS: '3',
      MAX_CONCURRENT_CREATES: '1',
      MAX_CONCURRENT_POLLS: '2',
      MAX_CONCURRENT_DELIVERIES: '3',
      MAX_CREATES_PER_MINUTE: '60',
      MAX_POLLS_PER_SECOND: '50',
      MAX_OPEN_PER_PERSON: '5',
      MAX_OPEN_PER_CHANNEL: '6',
      MAX_PER_MINUTE_PER_PERSON: '7',
      MAX_PER_MINUTE_PER_CHANNEL: '8',
      KEEP_CLIPS_DAYS: '90',
      KEEP_PROMPTS_DAYS: '365',
      MAX_DATA_BYTES: '1.5 tb',
      BUDGET_PER_MONTH: '500 USD, 200.5EUR',
      PROGRESS_EDIT_MS: '0',
      PLAYGROUND: 'on',
      PLAYGROUND_TOKEN: SECRET,
      LOG_LEVEL: 'debug',
      FFMPEG_PATH: '/opt/ffmpeg',
      MEDIA_URL: 's3://my-clips/dailies',
      MEDIA_CACHE_BYTES: '1000000000',
      AWS_ACCESS_KEY_ID: 'AKID',
      AWS_SECRET_ACCESS_KEY: SECRET,
      AWS_REGION: 'eu-west-1',
    };
    expect(readConfig(env)).toEqual({
      videoService: { baseUrl: 'https://videos.example/base', token: SECRET },
      modelCatalog: 'models.json',
      storeUrl: 'rediss://cache.example:6380/1',
      dataDir: 'data',
      media: {
        bucket: {
          bucket: 'my-clips',
          prefix: 'dailies/',
          region: 'eu-west-1',
          credentials: { accessKeyId: 'AKID', secretAccessKey: SECRET },
        },
        maxLocalBytes: 1_000_000_000,
      },
      platforms: {
        discord: { token: 'd', apiUrl: 'https://discord.example/api', guildId: '123456789012345678' },
        slack: {
          botToken: 'xoxb',
          appToken: 'xapp',
          signingSecret: 'sign',
          apiUrl: 'http://127.0.0.1:9/api/',
          installation: { clientId: 'ci', clientSecret: 'cs', stateSecret: 'ss' },
        },
      },
      access: { teams: ['slack:T1', 'discord:12345'], admits: ['user_install', 'external', 'guest'] },
      admins: [
        { platform: 'slack', user: 'U1' },
        { platform: 'discord', user: '2' },
        { platform: 'playground', user: 'ada' },
      ],
      http: { host: '0.0.0.0', port: 0 },
      links: { publicUrl: 'https://clips.example', secret: SECRET },
      poll: { firstMs: 0, minMs: 10, maxMs: 10, deadlineMs: 1 },
      createTimeoutMs: 2,
      requestTimeoutMs: 3,
      maxRate: { createsPerMinute: 60, pollsPerSecond: 50 },
      maxConcurrent: { creates: 1, polls: 2, deliveries: 3 },
      limits: { person: { open: 5, perMinute: 7 }, channel: { open: 6, perMinute: 8 } },
      retention: { clipsDays: 90, promptsDays: 365 },
      maxDataBytes: 1.5 * 1024 ** 4,
      refunds: 'assumed',
      budgetPerMonth: { USD: 500_000_000n, EUR: 200_500_000n },
      progressEditMs: 0,
      playground: { isOn: true, accessToken: SECRET },
      logLevel: 'debug',
    });
  });

  it.each([
    ['sqlite:clips.db', '.'],
    ['sqlite:/var/lib/dailies/d.db', '/var/lib/dailies'],
    ['sqlite:/d.db', '/'],
    ['redis://localhost', 'data'],
  ])('with the store %s has its clips in %s', (storeUrl, dataDir) => {
    expect(readConfig({ STORE_URL: storeUrl }).dataDir).toBe(dataDir);
  });
});

describe('an invalid configuration', () => {
  it('lists every invalid variable at once: its name, its value, the allowed values', () => {
    const problems = problemsOf({ ...WRONG });
    for (const [name, value] of Object.entries(WRONG)) {
      const lines = problems.filter((problem) => problem.startsWith(`${name}: `) && problem.includes('is not allowed'));
      expect(lines, name).toHaveLength(1);
      const isSecret = /TOKEN|SECRET|STORE_URL/.test(name);
      expect(lines[0]).toContain(isSecret ? 'not repeated here' : JSON.stringify(value));
      expect(lines[0]).toMatch(/; it takes .+/);
    }
    expect(problems.join()).not.toContain('hunter2');
  });

  it.each(Object.entries(WRONG))('reports exactly one problem for %s=%s', (name, value) => {
    const around = { ...SERVICE, DISCORD_TOKEN: 'd', LINK_SECRET: SECRET, [name]: value };
    expect(problemsOf(around).map((problem) => problem.split(':')[0])).toEqual([name]);
  });

  it('lists conflicting variables in addition to invalid ones', () => {
    const problems = problemsOf({
      PORT: 'x',
      VIDEO_API_TOKEN: 't',
      POLL_MIN_MS: '200',
      POLL_MAX_MS: '100',
      HOST: '0.0.0.0',
    });
    expect(new Set(problems.map((problem) => problem.split(':')[0]))).toEqual(
      new Set(['PLAYGROUND_TOKEN', 'POLL_MAX_MS', 'PORT', 'VIDEO_API_BASE_URL']),
    );
  });

  it('accepts a dashboard only with Redis, and only with a long password', () => {
    const problem = problemsOf({ BOARD_TOKEN: SECRET });
    expect(problem).toHaveLength(1);
    expect(problem[0]).toMatch(/^BOARD_TOKEN: .*STORE_URL=redis:/);
    expect(problem[0]).not.toContain(SECRET);
    expect(problemsOf({ BOARD_TOKEN: 'hunter2', STORE_URL: 'redis://r' })).toHaveLength(1);
    expect(readConfig({ BOARD_TOKEN: SECRET, STORE_URL: 'rediss://r' }).boardToken).toBe(SECRET);
  });

  it.each(['redis://cache.example:port', `redis://:${SECRET}@cache.example:70000`, 'rediss://a b'])(
    'rejects the malformed store URL %s',
    (url) => {
      const [problem = '', ...others] = problemsOf({ STORE_URL: url });
      expect(others).toEqual([]);
      expect(problem).toMatch(/^STORE_URL: .*not repeated here.*redis:/);
    },
  );

  it('lists all problems in the error message', () => {
    expect(() => readConfig({ PORT: 'x', LOG_LEVEL: 'y' })).toThrow(/PORT: .*\nLOG_LEVEL: /);
  });
});

describe('dependent variables', () => {
  it.each([
    [{ VIDEO_API_BASE_URL: 'https://v.example' }, ['VIDEO_API_TOKEN']],
    [{ VIDEO_API_TOKEN: 't' }, ['VIDEO_API_BASE_URL']],
    [{ ENHANCER_TOKEN: 't', ENHANCER_MODEL: 'm' }, ['ENHANCER_URL', 'ENHANCER_URL']],
    [{ ENHANCER_URL: 'http://a.example/v1' }, ['ENHANCER_URL']],
    [{ ENHANCER_URL: 'http://localhost:11434' }, []],
    [SERVICE, []],
    [{ PUBLIC_URL: 'https://c.example' }, ['LINK_SECRET', 'PLAYGROUND_TOKEN']],
    [{ PUBLIC_URL: 'https://c.example', PLAYGROUND: 'off' }, ['LINK_SECRET']],
    [{ PUBLIC_URL: 'http://localhost:8080', LINK_SECRET: SECRET }, []],
    [{ PUBLIC_URL: 'https://c.example', LINK_SECRET: SECRET, PLAYGROUND: 'off' }, []],
    [{ DISCORD_API_URL: 'https://d.example' }, ['DISCORD_TOKEN']],
    [{ SLACK_BOT_TOKEN: 'x' }, ['SLACK_APP_TOKEN']],
    [{ SLACK_BOT_TOKEN: 'x', SLACK_APP_TOKEN: 'y' }, []],
    [{ SLACK_BOT_TOKEN: 'x', SLACK_SIGNING_SECRET: 'y' }, []],
    [{ SLACK_CLIENT_ID: 'x', SLACK_SIGNING_SECRET: 'y' }, ['SLACK_CLIENT_SECRET', 'SLACK_STATE_SECRET', 'ALLOW_TEAMS']],
    [{ POLL_MIN_MS: '200', POLL_MAX_MS: '199' }, ['POLL_MAX_MS']],
    [{ POLL_MIN_MS: '200', POLL_MAX_MS: '200' }, []],
    [{ HOST: '0.0.0.0' }, ['PLAYGROUND_TOKEN']],
    [{ HOST: '::' }, ['PLAYGROUND_TOKEN']],
    [{ HOST: '0.0.0.0', PLAYGROUND: 'off' }, []],
    [{ HOST: '0.0.0.0', PLAYGROUND_TOKEN: SECRET }, []],
    [{ HOST: '0.0.0.0', DISCORD_TOKEN: 'd' }, []],
    [{ HOST: '0.0.0.0', DISCORD_TOKEN: 'd', PLAYGROUND: 'on' }, ['PLAYGROUND_TOKEN']],
    [{ HOST: 'localhost' }, []],
  ] as const)('of %j that are missing or invalid: %j', (env, missing) => {
    expect(problemsOf(env).map((problem) => problem.split(':')[0])).toEqual(missing);
  });
});

describe('the poll interval', () => {
  it.each([
    [{ POLL_MIN_MS: '60000' }, { minMs: 60_000, maxMs: 60_000 }],
    [{ POLL_MAX_MS: '1000' }, { minMs: 1_000, maxMs: 1_000 }],
    [{ POLL_MAX_MS: '10000' }, { minMs: 1_000, maxMs: 10_000 }],
    [
      { VIDEO_API_BASE_URL: 'https://v.example', VIDEO_API_TOKEN: 't' },
      { firstMs: 5_000, minMs: 5_000 },
    ],
  ] as const)('has defaults by the service, and one bound moves the other out of its way: %j', (env, bounds) => {
    expect(readConfig(env).poll).toMatchObject(bounds);
  });
});

describe('the check of pasted tokens', () => {
  const ON = { SLACK_BOT_TOKEN: 'xoxb-1-a', SLACK_APP_TOKEN: 'xapp-1-b' };
  it.each([
    [{ ...ON, SLACK_BOT_TOKEN: 'xapp-1-secret' }, 'SLACK_BOT_TOKEN', 'swap the two'],
    [{ ...ON, SLACK_APP_TOKEN: 'xoxb-1-secret' }, 'SLACK_APP_TOKEN', 'swap the two'],
    [{ ...ON, SLACK_BOT_TOKEN: 'xoxp-1-secret' }, 'SLACK_BOT_TOKEN', 'OAuth & Permissions'],
    [{ ...ON, SLACK_BOT_TOKEN: '"xoxb-1-secret"' }, 'SLACK_BOT_TOKEN', 'in quotes'],
    [{ ...ON, SLACK_BOT_TOKEN: 'Bearer xoxb-1-secret' }, 'SLACK_BOT_TOKEN', '“Bearer ”'],
    [{ ...ON, SLACK_SIGNING_SECRET: 'xoxb-1-secret' }, 'SLACK_SIGNING_SECRET', 'bot token'],
    [{ DISCORD_TOKEN: 'Bot MTIz.secret' }, 'DISCORD_TOKEN', '“Bot ”'],
    [{ DISCORD_TOKEN: "'MTIz.secret'" }, 'DISCORD_TOKEN', 'in quotes'],
    [{ DISCORD_TOKEN: ' MTIz.secret' }, 'DISCORD_TOKEN', 'blanks'],
    [{ DISCORD_TOKEN: 'MTIz. secret' }, 'DISCORD_TOKEN', 'blanks'],
  ] as const)('names the variable and the fix: %j', (env, name, hint) => {
    const [problem = '', ...others] = problemsOf(env);
    expect(others).toEqual([]);
    expect(problem).toMatch(new RegExp(`^${name}: `));
    expect(problem).toContain(hint);
    expect(problem).not.toMatch(/-1-secret|MTIz/);
  });

  it.each([ON, { ...ON, SLACK_BOT_TOKEN: 'xoxe.xoxb-1-rotating' }, { DISCORD_TOKEN: 'MTIz.Gabc.def-_' }])(
    'accepts %j',
    (env) => {
      expect(problemsOf(env)).toEqual([]);
    },
  );

  it.each(['aaaaaaaaaaaaaaaa', 'abababababababab', '1234123412341234'])('rejects %s as too easy to guess', (token) => {
    expect(problemsOf({ PLAYGROUND_TOKEN: token })).toEqual([expect.stringMatching(/^PLAYGROUND_TOKEN: .*different/)]);
  });
});

describe('the playground', () => {
  it.each([
    [{}, true],
    [{ DISCORD_TOKEN: 'd' }, false],
    [{ SLACK_BOT_TOKEN: 's', SLACK_APP_TOKEN: 'a' }, false],
    [{ DISCORD_TOKEN: 'd', PLAYGROUND: 'on' }, true],
    [{ PLAYGROUND: 'off' }, false],
  ] as const)('with %j: %s', (env, isOn) => {
    expect(readConfig(env).playground.isOn).toBe(isOn);
  });
});

describe('the URL of a service', () => {
  it.each(['https://v.example', 'http://127.0.0.1:4000', 'http://127.1.2.3', 'http://localhost:1', 'http://[::1]:2'])(
    'may be %s',
    (url) => {
      expect(readConfig({ VIDEO_API_BASE_URL: url, VIDEO_API_TOKEN: 't' }).videoService?.baseUrl).toBe(url);
    },
  );

  it.each([
    'http://v.example',
    'http://10.0.0.1',
    'http://127.0.0.1.evil.example',
    'http://localhost.evil.example',
    'http://[::2]',
    'ws://localhost',
    'v.example',
    'https://v.example/v1',
    'https://v.example/base/v1/',
    'https://v.example/#videos',
  ])('may not be %s', (url) => {
    expect(problemsOf({ VIDEO_API_BASE_URL: url, VIDEO_API_TOKEN: 't' })).toHaveLength(1);
  });

  it.each(['https://me:hunter2@v.example', 'https://v.example/?key=hunter2'])(
    'may not contain credentials, which are not printed: %s',
    (url) => {
      const problems = problemsOf({ VIDEO_API_BASE_URL: url, VIDEO_API_TOKEN: 't' });
      expect(problems).toEqual([expect.stringMatching(/^VIDEO_API_BASE_URL: .*not repeated here/)]);
      expect(problems.join()).not.toContain('hunter2');
    },
  );
});

describe('BUDGET_PER_MONTH', () => {
  it.each(['1e9 USD', '-5 USD', '0.1234567 USD', '1000000000 USD', '5 usd', '5 USD, 6 USD', 'USD 5', ','])(
    'refuses %s',
    (given) => {
      expect(problemsOf({ BUDGET_PER_MONTH: given })).toEqual([expect.stringContaining('BUDGET_PER_MONTH')]);
    },
  );

  it('takes 0, which allows no money, and nothing, which sets no limit', () => {
    expect(readConfig({ BUDGET_PER_MONTH: '0 USD' }).budgetPerMonth).toEqual({ USD: 0n });
    expect(readConfig({ BUDGET_PER_MONTH: ' ' }).budgetPerMonth).toEqual({});
  });
});

it('names what is wrong with MEDIA_URL, among everything else, and no key', () => {
  const env = { MEDIA_URL: 's3://AKID:hunter2@my-clips', LOG_LEVEL: 'loud', AWS_REGION: 'eu-west-1' };
  const problems = problemsOf(env);
  expect(problems).toHaveLength(2);
  expect(problems.join()).toContain('keys go into AWS_ACCESS_KEY_ID');
  expect(problems.join()).not.toContain('hunter2');
});
