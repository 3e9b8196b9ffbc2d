import { existsSync } from 'node:fs';
import { systemClock as clock } from '../../clock.ts';
import { CommandError } from '../../command.ts';
import { isStoreUrl, openConfiguredStore, type Store, sqlitePath } from '../../engine/index.ts';
import { asDailiesError } from '../../errors.ts';
import { createLogger } from '../../logger.ts';

/** Sentences about books that cannot be opened. */
interface OpeningWords {
  /** What the books were wanted for: `check`. */
  readonly purpose: string;
  /** What to do while a bot has them open. */
  readonly whileInUse: string;
}

/** Opens the store that `STORE_URL` names, but creates none. @throws CommandError */
export async function openBooks({ purpose, whileInUse }: OpeningWords): Promise<Store> {
  const { STORE_URL: given = '' } = process.env;
  const url = given.trim() === '' ? 'sqlite:data/dailies.db' : given;
  if (!isStoreUrl(url)) throw new CommandError('STORE_URL is not the address of a store (sqlite:PATH, redis://…).');
  const file = sqlitePath(url);
  if (file !== null && !existsSync(file)) {
    throw new CommandError(`There is no store ${file} to ${purpose} (looked for from ${process.cwd()}).`);
  }
  try {
    return await openConfiguredStore(url, { logger: createLogger('warn'), clock });
  } catch (thrown) {
    const { code, message } = asDailiesError(thrown, 'opening the store');
    throw new CommandError(code === 'store_locked' ? `${message}. ${whileInUse}` : message);
  }
}
