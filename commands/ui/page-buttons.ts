import type { SpendKey } from '#src/money/index.ts';
import { type CardButton, present } from './card.ts';

/** Maximum length of button and form ids. @see https://discord.com/developers/docs/components/reference */
const MAX_ID_LENGTH = 100;

/** Page of `/video list`, as encoded in a button id. */
export interface ListPage {
  /** Number of matching clips on the previous pages. */
  readonly offset: number;
  /** Platform id of the requester to filter by; `null` for all. */
  readonly user: string | null;
  /** Text that the prompt must contain; `null` for no filter. */
  readonly search: string | null;
}

/** Page of `/video models`. */
interface ModelsPage {
  readonly list: 'models';
  /** Number of models on the previous pages. */
  readonly offset: number;
}

/** Page of `/video usage`. */
export interface UsagePage {
  readonly list: 'usage';
  /** Number of people, and of models, on the previous pages. */
  readonly offset: number;
  /** Month, such as `2026-11`. */
  readonly month: string;
  /** Rows of the table; `null` for the usual tables. */
  readonly by: SpendKey | null;
  /** Platform id of the person whose spend is shown; `null` for everyone's. */
  readonly user: string | null;
}

/** Page of `/video budget`. */
interface BudgetsPage {
  readonly list: 'budgets';
  /** Number of budgets on the previous pages. */
  readonly offset: number;
}

/** Page of `/video audit`. */
export interface AuditPage {
  readonly list: 'audit';
  /** Number of entries on the previous pages. */
  readonly offset: number;
  /** True for the log of the deployment instead of the team's. */
  readonly isDeployment: boolean;
}

export type Page = ListPage | ModelsPage | UsagePage | BudgetsPage | AuditPage;

export interface PagePress {
  readonly action: 'page';
  readonly page: Page;
}

/** Page with the information needed for its navigation buttons. */
interface PagesAround {
  readonly page: Page;
  /** Number of entries per page. */
  readonly length: number;
  readonly hasMore: boolean;
}

/** Returns the navigation buttons of a page; none to a page that does not exist or does not fit into a button id. */
export function pageButtons({ page, length, hasMore }: PagesAround): readonly CardButton[] {
  const { offset } = page;
  const isByTime = !('list' in page) || page.list === 'audit';
  const [earlier, later] = isByTime ? ['Newer', 'Older'] : ['Previous', 'Next'];
  return present([
    offset > 0 && pageButton({ ...page, offset: Math.max(0, offset - length) }, earlier),
    hasMore && pageButton({ ...page, offset: offset + length }, later),
  ]);
}

function pageButton(page: Page, label: string): CardButton | null {
  const id = pageButtonId(page);
  return id === null ? null : { id, label, style: 'plain' };
}

/** Returns the id of a page's button; `null` if it would exceed the platforms' maximum length. */
export function pageButtonId(page: Page): string | null {
  const id = `page:${pageId(page)}`;
  return id.length > MAX_ID_LENGTH ? null : id;
}

function pageId(page: Page): string {
  if ('list' in page) {
    if (page.list === 'audit') return `audit:${page.offset}:${page.isDeployment ? 'deployment' : 'team'}`;
    if (page.list !== 'usage') return `${page.list}:${page.offset}`;
    const by = page.by === null ? '' : `.${page.by}`;
    return `usage:${page.offset}:${page.month}${by}:${page.user ?? ''}`;
  }
  const { offset, user, search } = page;
  const whose = user ?? '';
  // The length prefix allows any character in a platform's user id.
  return `list:${offset}:${whose.length}:${whose}${search ?? ''}`;
}

/** Parses the id of a page's button; `null` for one that no version of Dailies created. */
export function parsePage(id: string): PagePress | null {
  const page = parsePlainPage(id) ?? parseAuditPage(id) ?? parseUsagePage(id) ?? parseListPage(id);
  return page === null ? null : { action: 'page', page };
}

function parsePlainPage(id: string): ModelsPage | BudgetsPage | null {
  const [, list, offset] = /^page:(models|budgets):(\d{1,7})$/u.exec(id) ?? [];
  return list === 'models' || list === 'budgets' ? { list, offset: Number(offset) } : null;
}

function parseAuditPage(id: string): AuditPage | null {
  const [, offset, log] = /^page:audit:(\d{1,7}):(deployment|team)$/u.exec(id) ?? [];
  return offset === undefined ? null : { list: 'audit', offset: Number(offset), isDeployment: log === 'deployment' };
}

function parseUsagePage(id: string): UsagePage | null {
  const [, offset, month, by, user] =
    /^page:usage:(\d{1,7}):(\d{4}-\d\d)(?:\.(person|model|channel))?:(.*)$/su.exec(id) ?? [];
  if (offset === undefined || month === undefined || user === undefined) return null;
  const key = by === 'person' || by === 'model' || by === 'channel' ? by : null;
  return { list: 'usage', offset: Number(offset), month, by: key, user: user === '' ? null : user };
}

function parseListPage(id: string): ListPage | null {
  const [, offset, length, rest] = /^page:list:(\d{1,7}):(\d{1,3}):(.*)$/su.exec(id) ?? [];
  if (offset === undefined || length === undefined || rest === undefined) return null;
  const user = rest.slice(0, Number(length));
  if (user.length < Number(length)) return null;
  const search = rest.slice(Number(length));
  return { offset: Number(offset), user: user === '' ? null : user, search: search === '' ? null : search };
}
