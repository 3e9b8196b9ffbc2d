import { channel } from 'node:diagnostics_channel';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { ClockSkew } from '#src/doctor/clock-skew.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';

const NOW_MS = Date.parse('2026-11-23T12:00:00Z');
const ORIGIN = 'https://discord.example';

function diagnose(aheadMs: number, more: readonly string[] = [], origin = ORIGIN) {
  const skew = new ClockSkew(new ManualClock(NOW_MS + aheadMs), ['https://own.example']);
  const headers = ['Date', new Date(NOW_MS).toUTCString(), ...more].map((one) => Buffer.from(one));
  channel('undici:request:headers').publish({ request: { origin }, response: { headers } });
  return skew.result();
}

it.each([
  [0, 'ok', `agrees with ${ORIGIN}`],
  [-4_000, 'ok', 'agrees'],
  [8_500, 'warning', '8 s ahead of'],
  [-90_000, 'wrong', '91 s behind'],
])('%d ms ahead: %s', (aheadMs, level, found) => {
  expect(diagnose(aheadMs)).toMatchObject({ level, found: expect.stringContaining(found) });
});

it('ignores cached responses and this machine’s own', () => {
  const nothing = { level: 'ok', found: expect.stringContaining('nothing outside') };
  expect(diagnose(90_000, ['Age', '90'])).toMatchObject(nothing);
  expect(diagnose(90_000, [], 'https://own.example')).toMatchObject(nothing);
});

it('sees the responses of Node’s own fetch', async () => {
  const server = createServer((_request, response) => {
    response.setHeader('date', new Date(NOW_MS).toUTCString());
    response.end();
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const skew = new ClockSkew(new ManualClock(NOW_MS + 30_500), []);
  await (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)).text();
  expect(skew.result()).toMatchObject({ level: 'warning', found: expect.stringContaining('30 s ahead') });
});
