import { describe, expect, it } from 'vitest';
import { whatFits } from '#commands/orders/what-fits.ts';
import { microsOf } from '#src/tasks/money.ts';
import { parseCatalog } from '#src/videos/catalog.ts';
import { checkRequest } from '#src/videos/check.ts';
import { EPIC, SWIFT } from '#test/unit/videos/models.ts';

const CHEAP = { ...SWIFT, name: 'cheap', title: 'Cheap', price: '0.01', seconds: [4, 8, 12], default: false };
const CENTS = { ...CHEAP, name: 'cents', price: '0.02', currency: 'EUR' };
const FREE = { ...EPIC, name: 'free', title: 'Free', price: '0' };
const catalog = parseCatalog({ models: [SWIFT, EPIC, CHEAP, CENTS, FREE] });

function fitted(draft: Parameters<typeof checkRequest>[1], room: string): string | null {
  const checked = checkRequest(catalog, draft);
  if (!checked.ok) throw new TypeError(JSON.stringify(checked));
  const found = whatFits(catalog, checked, microsOf(room));
  return found === null ? null : `${found.request.model} ${found.request.seconds} s`;
}

describe('the cheaper form of an order', () => {
  const fox = { prompt: 'a fox', seconds: 8 };

  it('is the longest shorter clip of the same model', () => {
    expect([fitted(fox, '0.39'), fitted(fox, '0.3'), fitted(fox, '0.29'), fitted(fox, '0.2')]).toEqual([
      'swift-1 6 s',
      'swift-1 6 s',
      'swift-1 4 s',
      'swift-1 4 s',
    ]);
  });

  it('else the longest clip of another model in the same currency, no longer than requested', () => {
    expect([fitted(fox, '0.19'), fitted(fox, '0.08'), fitted(fox, '0.07'), fitted(fox, '0.04')]).toEqual([
      'cheap 8 s',
      'cheap 8 s',
      'cheap 4 s',
      'cheap 4 s',
    ]);
  });

  it('is none where nothing fits, also with nothing left', () => {
    expect([fitted(fox, '0.039999'), fitted(fox, '0'), fitted(fox, '-5')]).toEqual([null, null, null]);
  });

  it('is only a request that the other model takes', () => {
    const image = ['https://example.com/fox.png'];
    expect(fitted({ ...fox, model: 'epic-pro', seconds: 10, resolution: '1080p', image }, '0')).toBe('free 10 s');
    expect(fitted({ ...fox, resolution: '480p' }, '0')).toBeNull();
  });
});
