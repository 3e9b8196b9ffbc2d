import { type Page, pageButtonId } from './buttons.ts';
import type { CardButton } from './card.ts';

/** Which pages lie around one. */
export interface PagesAround<P extends Page> {
  readonly page: P;
  /** How many entries a page shows. */
  readonly length: number;
  readonly hasMore: boolean;
  /** Labels of the buttons: to the page before, and to the next one. */
  readonly labels: readonly [earlier: string, later: string];
}

/** Buttons that turn a page; none to a page that is not there, or that no id has room for. */
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
