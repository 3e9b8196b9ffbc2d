import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { systemClock } from '../clock.ts';
import { loadEnvFile } from '../env-file.ts';
import { asDailiesError } from '../errors.ts';
import { createLogger } from '../logger.ts';
import { host, logLevel, wholeNumber } from '../variables.ts';
import { parseCatalog } from '../videos/index.ts';
import { sandboxCatalog } from './catalog.ts';
import { curlLine } from './help.ts';
import { createSandbox, type Sandbox } from './server.ts';

// `npm run sandbox`: the embedded video service as a process of its own.

const environment = z.object({
  HOST: host,
  SANDBOX_PORT: wholeNumber(0, 65_535).default(4000),
  SANDBOX_TOKENS: z
    .string()
    .transform((list) => list.split(',').map((token) => token.trim()))
    .refine((tokens) => tokens.every((token) => /^\S+$/.test(token)), 'tokens without spaces, separated by commas')
    .optional(),
  SANDBOX_DATA: z.string().default('data/sandbox'),
  LOG_LEVEL: logLevel,
});

process.umask(0o077);
const unread = loadEnvFile();
const read = environment.safeParse(Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== '')));
if (!read.success || unread.length > 0) {
  const problems = (read.error?.issues ?? []).map((issue) => {
    const name = String(issue.path[0]);
    const given = name === 'SANDBOX_TOKENS' ? 'what was given (not repeated here)' : JSON.stringify(process.env[name]);
    return `  ${name}: ${given} is not allowed; it takes ${issue.message}`;
  });
  fail(
    `The sandbox cannot start with this configuration:\n${[...unread.map((problem) => `  ${problem}`), ...problems].join('\n')}`,
  );
}
const { HOST, SANDBOX_PORT, SANDBOX_TOKENS, SANDBOX_DATA, LOG_LEVEL } = read.data;
const ownToken = SANDBOX_TOKENS === undefined ? `sk-sandbox-${randomBytes(12).toString('hex')}` : undefined;
const tokens = SANDBOX_TOKENS ?? (ownToken === undefined ? [] : [ownToken]);

const sandbox = await open();
const baseUrl = await sandbox.listen(HOST, SANDBOX_PORT).catch((thrown: unknown) => fail(whyNoPort(thrown)));
// A configured token is not printed: the shell that set it expands it.
const curl = curlLine(baseUrl, ownToken ?? '$(echo $SANDBOX_TOKENS | cut -d, -f1)', parseCatalog(sandboxCatalog));
process.stdout.write(
  `\nThe sandbox listens at ${baseUrl} (open it for help).\n` +
    (ownToken === undefined ? '' : `Token: ${ownToken}\n`) +
    `\n${curl}\n\n`,
);

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    sandbox.close().then(
      () => process.exit(0),
      (thrown: unknown) => fail(`The sandbox could not close: ${asDailiesError(thrown, 'closing').message}`),
    );
  });
}

async function open(): Promise<Sandbox> {
  const logger = createLogger(LOG_LEVEL);
  return createSandbox({ dataDir: SANDBOX_DATA, tokens, clock: systemClock, logger }).catch((thrown: unknown) => {
    const { code, message } = asDailiesError(thrown, `opening ${SANDBOX_DATA}`);
    const reason = code === 'store_locked' ? 'another sandbox uses it; stop that one or set SANDBOX_DATA' : message;
    return fail(`The sandbox cannot use ${SANDBOX_DATA}: ${reason}.`);
  });
}

function whyNoPort(thrown: unknown): string {
  const { code } = thrown as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') return `Port ${SANDBOX_PORT} of ${HOST} is in use; set SANDBOX_PORT to another one.`;
  return `The sandbox cannot listen at ${HOST}:${SANDBOX_PORT}: ${asDailiesError(thrown, 'listening').message}.`;
}

function fail(sentence: string): never {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}
