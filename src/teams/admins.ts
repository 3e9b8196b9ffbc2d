import type { PlatformConfig } from '../config/index.ts';
import { readBy } from '../variables.ts';
import { splitList } from './access-list.ts';

/** Person named in `ADMINS`, who administers every team of the platform that they are a member of. */
export interface Admin {
  /** As in `Origin.platform`. */
  readonly platform: string;
  readonly user: string;
}

/** Returns whether a person is named in a list of administrators. @param user id, as in `Person.id` */
export function isAmong(admins: readonly Admin[], platform: string, user: string): boolean {
  return admins.some((admin) => admin.platform === platform && admin.user === user);
}

/** Persons who administer a platform without being named in `ADMINS`. */
export const BUILT_IN_ADMINS: readonly Admin[] = [{ platform: 'playground', user: 'operator' }];

/** Playground users have names in place of ids. */
const PLAYGROUND = { name: 'playground', userId: /^[^\p{C}]{1,40}$/u, userExample: 'playground:ada' };

/** Returns the schema of `ADMINS`. */
export function adminListOf(platforms: readonly Pick<PlatformConfig, 'name' | 'userId' | 'userExample'>[]) {
  const all = [...platforms, PLAYGROUND];
  const isUser = ({ platform, user }: Admin): boolean =>
    all.some(({ name, userId }) => platform === name && userId.test(user));
  const examples = all.map(({ userExample }) => userExample).join(',');
  return readBy((text): readonly Admin[] | null => {
    const users = splitList(text).map((named) => {
      const colon = named.indexOf(':');
      return { platform: named.slice(0, Math.max(colon, 0)), user: named.slice(colon + 1) };
    });
    return users.length > 0 && users.every(isUser) ? users : null;
  }, `people such as ${examples}`);
}
