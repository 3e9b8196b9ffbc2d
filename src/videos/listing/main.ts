import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock as clock } from '../../clock.ts';
import { CommandError, runCommand } from '../../command.ts';
import { asDailiesError } from '../../errors.ts';
import { writeWhole } from '../../files.ts';
import { type FileModel, parseCatalog } from '../catalog.ts';
import { InvalidFileError, readJson } from '../json-file.ts';
import { readServices, type ServiceConfig } from '../services-file.ts';
import { fetchListing } from './fetch.ts';
import { mergeListing } from './merge.ts';

// `npm run catalog -- --service NAME`: writes the models that a service lists into the model catalog.

const USAGE = `Usage: npm run catalog -- --service NAME [--out FILE] [--update] [--yes]
Writes the models that a service of SERVICES lists, with lengths, resolutions and prices, into the model catalog.
  --out FILE  the catalog; without it, MODEL_CATALOG, or config/catalog.json
  --update    adds no models: brings up to date those that the catalog has
  --yes       writes over a catalog that is there; without it, the difference is shown alone`;

interface Options {
  readonly service: string;
  readonly path: string;
  readonly isUpdate: boolean;
  readonly mayOverwrite: boolean;
}

function optionsGiven(): Options {
  const { service, out, update = false, yes = false } = parsed();
  if (service === undefined) throw new CommandError(USAGE);
  const { MODEL_CATALOG: configured } = process.env;
  const path = [out, configured].find((one) => one !== undefined && one.trim() !== '') ?? 'config/catalog.json';
  return { service, path, isUpdate: update, mayOverwrite: yes };
}

function parsed() {
  const known = {
    service: { type: 'string' },
    out: { type: 'string' },
    update: { type: 'boolean' },
    yes: { type: 'boolean' },
  } as const;
  try {
    return parseArgs({ options: known }).values;
  } catch (thrown) {
    throw new CommandError(`${asDailiesError(thrown, 'reading the options').message}\n${USAGE}`);
  }
}

/** Finds the service, whose key may be missing. */
async function serviceOf(given: string): Promise<{ readonly service: ServiceConfig; readonly isOnly: boolean }> {
  const { VIDEO_API_BASE_URL: unnamed = '', SERVICES: path = '' } = process.env;
  if (path.trim() === '') throw new CommandError('SERVICES names no file with video services.');
  const services = await readServices(path, process.env, { needsKeys: false }).catch((thrown: unknown) => {
    throw thrown instanceof InvalidFileError ? new CommandError(`SERVICES: ${thrown.problems.join('; ')}`) : thrown;
  });
  const service = services.find(({ name }) => name === given);
  if (service === undefined) {
    const known = services.map(({ name }) => name).join(', ');
    throw new CommandError(
      `--service takes the name of a service in SERVICES (${known}), not ${JSON.stringify(given)}.`,
    );
  }
  return { service, isOnly: services.length === 1 && unnamed.trim() === '' };
}

interface CatalogFile {
  readonly $schema?: string | undefined;
  readonly models: readonly FileModel[];
}

/** Reads the catalog, without its defaults; null where there is none. */
async function readFileAsIs(path: string): Promise<CatalogFile | null> {
  if (!existsSync(path)) return null;
  try {
    const json = await readJson(path);
    parseCatalog(json);
    return json as CatalogFile;
  } catch (thrown) {
    const reason = thrown instanceof InvalidFileError ? thrown.problems.join('; ') : (thrown as Error).message;
    throw new CommandError(`${path} is no valid catalog, and stays as it is: ${reason}`);
  }
}

/** Writes a catalog with its short lists in one line each, as people write them. */
async function write(path: string, file: CatalogFile): Promise<void> {
  const lists = /\[\n\s+([^[\]{}]*?)\n\s+\]/gu;
  const text = JSON.stringify(file, null, 2).replace(lists, (_, inner: string) => `[${inner.replace(/\n\s+/gu, ' ')}]`);
  await writeWhole(path, (part) => writeFile(part, `${text}\n`));
}

function print(lines: readonly string[]): void {
  // The service's list may hold anything.
  process.stdout.write(lines.map((line) => `${line.replace(/\p{C}/gu, '�')}\n`).join(''));
}

await runCommand('writing the catalog', async () => {
  const { service: given, path, isUpdate, mayOverwrite } = optionsGiven();
  const { service, isOnly } = await serviceOf(given);
  const present = await readFileAsIs(path);
  const listing = await fetchListing(service, clock);
  const { models: before = [], ...rest } = present ?? {};
  const { models, differences } = mergeListing({ models: before, listing, service: given, isOnly, adds: !isUpdate });
  print([...differences, ...listing.notes]);
  if (models.length === 0)
    throw new CommandError(`Nothing was written: ${given} lists no model that a catalog can have.`);
  if (present !== null && differences.length === 0) return print([`${path} is up to date.`]);
  const schema = existsSync(join(dirname(path), 'catalog.schema.json')) ? { $schema: './catalog.schema.json' } : {};
  const file: CatalogFile = { ...(present === null ? schema : rest), models };
  const { defaultModel } = parseCatalog(file);
  const says = `The default model is ${defaultModel.name}.`;
  if (present !== null && !mayOverwrite)
    return print([says, `${path} is unchanged. With --yes, this is written to it.`]);
  await write(path, file);
  print([says, `Written to ${path}. Check every price; SIGHUP has a running bot read the catalog again.`]);
});
