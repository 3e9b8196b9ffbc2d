import { Keyv } from 'keyv';
import { expect, it } from 'vitest';
import { deserialize, serialize } from '#src/engine/store/envelope.ts';

const VALUES = [
  { plain: 'text', n: 1, nested: { list: [1, 'a', null, true, { deep: [] }] } },
  { prompt: ': begins with a colon', list: [':', '::', ':base64:YQ=='], ':key': ':' },
  { looksLike: 'ends with a comma,":', quoted: '":"', slash: '\\":', empty: '' },
  { unicode: '🦊 é \u0000 \u2028', gone: undefined },
  ':just a string',
  [':in', 'a list'],
  null,
  0,
];

it.each(VALUES.map((value) => [JSON.stringify(value), value]))(
  'serializes %s as Keyv itself does',
  async (_, value) => {
    const text = await new Keyv().serialize?.({ value, expires: 5 });
    expect(serialize({ value, expires: 5 })).toBe(text);
    expect(deserialize(text ?? '')).toEqual({ value, expires: 5 });
  },
);
