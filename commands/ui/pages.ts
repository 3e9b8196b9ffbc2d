import { type Page, pageButtonId } from './buttons.ts';
import type { CardButton } from './card.ts';

/** Page with the information needed for its navigation buttons. */
export interface PagesAround<P extends Page> {
  readonly page: P;
  /** Number of entries per page. */
  readonly length: number;
  readonly hasMore: boolean;
  /** Labels of the buttons to the previous and the next page. */
  readonly labels: readonly [earlier: string, later: string];
}

/** Returns the navigation buttons of a page; none to a page that does not exist or does not fit into a button id. */
export function pageButtons<P extends Page>({ page, length, hasMore, labels }: PagesAround<P>): readonly CardButton[] {
  const earlier = { ...page, offset: Math.max(0, page.offset - length) };
  const later = { ...page, offset: page.offset + length };
  return [
    ...(page.offset === 0 ? [] : pageButton(earlier, labels[0])),
    ...(hasMore ? pageButton(later, labels[1]) : []),
  ];
}

function pageButton(page: Page, label: string): readonly CardButton[] {
  const id = pageButtonId(page);
  return id === null ? [] : [{ id, label, style: 'plain' }];
}
