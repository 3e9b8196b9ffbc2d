import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Returns all violations that axe finds, of any impact; the size of targets is checked as well. */
export async function violations(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const rules = { 'target-size': { enabled: true } };
    // @ts-expect-error defined by the script above
    const found = await window.axe.run(document, { resultTypes: ['violations'], rules });
    return found.violations.map(
      ({ id, nodes }: { id: string; nodes: { html: string }[] }) => `${id}: ${nodes[0]?.html}`,
    );
  });
}

/** Returns by how many pixels a page is wider than its window. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
}

/** Sizes of the window in which pages are checked, in pixels. */
const WINDOWS = {
  '1440 px': { width: 1440, height: 900 },
  '360 px': { width: 360, height: 780 },
  '200 %': { width: 720, height: 450 },
} as const;

/** Returns what is wrong with a page in any window, in light or dark: what axe finds, and content beside the window. */
export async function wrongWith(page: Page): Promise<readonly string[]> {
  const before = page.viewportSize();
  const wrong: string[] = [];
  for (const [name, size] of Object.entries(WINDOWS)) {
    await page.setViewportSize(size);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      wrong.push(...(await violations(page)).map((found) => `${name}, ${colorScheme}: ${found}`));
    }
    const pixels = await overflow(page);
    if (pixels > 0) wrong.push(`${name}: ${pixels} px too wide`);
  }
  if (before !== null) await page.setViewportSize(before);
  return wrong;
}

/**
 * Presses Tab until the focus leaves the page or returns. @returns the controls that show no focus
 */
export async function withoutFocusRing(page: Page): Promise<readonly string[]> {
  const wrong: string[] = [];
  const seen = new Set<string>();
  for (;;) {
    await page.keyboard.press('Tab');
    const found = await page.evaluate(() => {
      const focused = document.activeElement;
      if (focused === null || focused === document.body) return null;
      // The message box shows its focus by the ring of the frame that it is in.
      const frame = focused.closest('.box');
      const isShown =
        getComputedStyle(focused).outlineStyle !== 'none' ||
        (frame !== null && getComputedStyle(frame).boxShadow !== 'none');
      const path: string[] = [];
      for (let one: Element | null = focused; one !== null; one = one.parentElement)
        path.push(`${one.tagName}:${[...(one.parentElement?.children ?? [])].indexOf(one)}`);
      return { path: path.join(' '), html: focused.outerHTML.slice(0, 120), isShown };
    });
    if (found === null || seen.has(found.path)) return wrong;
    seen.add(found.path);
    if (!found.isShown) wrong.push(found.html);
  }
}
