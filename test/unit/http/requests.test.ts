import { expect, it } from 'vitest';
import { isFromOtherOrigin } from '#src/http/requests.ts';

it.each([
  ['https://dailies.example', 'dailies.example', false],
  ['https://dailies.example', 'DAILIES.example', false],
  ['https://dailies.example:444', 'dailies.example', true],
  ['https://other.example', 'dailies.example', true],
  ['https://public.example', 'dailies.example', false],
  // A sandboxed page, also where a client sends an empty Host.
  ['null', 'dailies.example', true],
  ['null', '', true],
  ['null', undefined, true],
  [undefined, 'dailies.example', false],
])('a request with the origin %s to %s comes from elsewhere: %s', (origin, host, isForeign) => {
  const headers = { ...(origin !== undefined && { origin }), ...(host !== undefined && { host }) };
  expect(isFromOtherOrigin({ headers }, new URL('https://public.example'))).toBe(isForeign);
});
