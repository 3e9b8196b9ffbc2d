import { existsSync } from 'node:fs';
import { Agent } from 'undici';
import type { Clock } from '../../clock.ts';
import { CommandError } from '../../command.ts';
import type { Credit, ModelListing } from '../dialects/dialect.ts';
import { DIALECTS } from '../dialects/registry.ts';
import { ExchangeError, exchange } from '../exchange.ts';
import { type Answer, jsonOf } from '../failures.ts';
import type { ServiceConfig } from '../services-file.ts';

const TIMEOUT_MS = 30_000;
/** Largest list in bytes; each model has a description. */
const MAX_BYTES = 16 * 1024 ** 2;

/**
 * Asks a service once for its list of models, without following redirects. Its key goes along where it has one.
 * @throws CommandError where it lists none, or there is no list to be had
 */
export async function fetchListing(service: ServiceConfig, clock: Clock): Promise<ModelListing> {
  const { dialect = '' } = service;
  const { models: list } = DIALECTS[dialect] ?? {};
  if (list === undefined) throw new CommandError(`${dialect} lists no models; begin with ${exampleOf(dialect)}.`);
  return fetchFrom(service, clock, { ...list, what: 'a list of models' });
}

/** Asks a service once what is left to spend with its key. @throws CommandError where it does not say that */
export async function fetchCredit(service: ServiceConfig, clock: Clock): Promise<Credit> {
  const { dialect = '' } = service;
  const { credit } = DIALECTS[dialect] ?? {};
  if (credit === undefined) throw new CommandError(`${dialect} does not say what is left to spend.`);
  return fetchFrom(service, clock, { ...credit, what: 'what is left to spend' });
}

interface Wanted<Found> {
  /** Path below the base URL, encoded. */
  readonly path: string;
  readonly decode: (answer: unknown) => Found | null;
  readonly what: string;
}

async function fetchFrom<Found>(
  { name = '', dialect = '', baseUrl, token }: ServiceConfig,
  clock: Clock,
  { path, decode, what }: Wanted<Found>,
): Promise<Found> {
  const agent = new Agent({ allowH2: false, connect: { timeout: TIMEOUT_MS } });
  const { origin, pathname } = new URL(baseUrl);
  const credentials =
    token === '' ? {} : (DIALECTS[dialect]?.authorize?.(token) ?? { authorization: `Bearer ${token}` });
  const wire = { origin, basePath: pathname.replace(/\/$/, ''), credentials, clock };
  const asked = `${name} (${baseUrl}${path})`;
  try {
    const request = { agent, method: 'GET', path, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES } as const;
    const answer = await exchange(wire, request);
    if (answer.status !== 200) throw new CommandError(`${asked} ${refusalOf(answer, token !== '', what)}.`);
    const found = decode(jsonOf(answer));
    if (found === null) throw new CommandError(`${asked} answered something else than ${what}.`);
    return found;
  } catch (thrown) {
    if (!(thrown instanceof ExchangeError)) throw thrown;
    throw new CommandError(`${asked} could not be asked: ${thrown.message}.`);
  } finally {
    await agent.destroy();
  }
}

function refusalOf({ status, headers }: Answer, hasKey: boolean, what: string): string {
  if (status === 401 || status === 403)
    return hasKey
      ? `refuses the key that SERVICES names for it (HTTP ${status})`
      : `asks for a key (HTTP ${status}), and SERVICES names none for it that is set`;
  const to = headers.location;
  if (status >= 300 && status < 400 && to !== undefined)
    return `leads elsewhere (HTTP ${status}), which is not followed: ${to}`;
  return `answered HTTP ${status}, not ${what}`;
}

/** Returns where models of a dialect are that lists none; that of the specification has no example of its own. */
function exampleOf(dialect: string): string {
  const example = `config/catalogs/${dialect}.json`;
  const isThere = existsSync(new URL(`../../../${example}`, import.meta.url));
  return isThere ? example : 'config/catalog.example.json';
}
