import { describe, expect, it } from 'vitest';
import { LINK_LIFETIME_MS, SignedLinks } from '#src/media/clip-links.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';

const NOW_MS = 1_700_000_000_000;

function signer(secret = 'a secret of some length') {
  const clock = new ManualClock(NOW_MS);
  return { clock, links: new SignedLinks({ publicUrl: 'https://clips.example/bot', secret, clock }) };
}

function partsOf(url: string): { id: string; expires: string; signature: string } {
  const { pathname, searchParams } = new URL(url);
  const id = decodeURIComponent(pathname.split('/').at(-1) ?? '');
  return { id, expires: searchParams.get('expires') ?? '', signature: searchParams.get('signature') ?? '' };
}

describe('a signed link', () => {
  it('contains the id and the expiry, and is valid until then', () => {
    const { clock, links } = signer();
    const { url, expiresAtMs } = links.sign('abc');
    expect(url).toMatch(/^https:\/\/clips\.example\/bot\/media\/abc\?expires=1700604800&signature=[\w-]{43}$/);
    expect(expiresAtMs).toBe(NOW_MS + LINK_LIFETIME_MS);
    const { id, expires, signature } = partsOf(url);
    expect(links.verify(id, expires, signature)).toBe('valid');
    clock.advance(LINK_LIFETIME_MS - 1);
    expect(links.verify(id, expires, signature)).toBe('valid');
    clock.advance(1);
    expect(links.verify(id, expires, signature)).toBe('expired');
  });

  it('expires after the given lifetime', () => {
    const { clock, links } = signer();
    const { url, expiresAtMs } = links.sign('abc', 1_999);
    expect(expiresAtMs).toBe(NOW_MS + 1_000);
    clock.advance(1_000);
    const { id, expires, signature } = partsOf(url);
    expect(links.verify(id, expires, signature)).toBe('expired');
  });

  it('is invalid for any other id, expiry or signature', () => {
    const { links } = signer();
    const { id, expires, signature } = partsOf(links.sign('abc').url);
    const forged = [
      // Base64 decoders skip invalid characters.
      ['abc', expires, `${signature}*junk`],
      ['abc', expires, `${signature}=`],
      ['abd', expires, signature],
      [id, `${Number(expires) + 1}`, signature],
      [id, `0${expires}`, signature],
      [id, expires, `${signature.slice(0, -2)}AA`],
      [id, expires, signature.slice(0, 20)],
      [id, expires, ''],
      [id, '', signature],
      ['', '', ''],
    ] as const;
    for (const [otherId, otherExpires, other] of forged)
      expect(links.verify(otherId, otherExpires, other)).toBe('forged');
    expect(signer('another secret').links.verify(id, expires, signature)).toBe('forged');
  });

  it('escapes special characters of an id in the URL', () => {
    const { links } = signer();
    const odd = 'a/b?c=1&expires=9#"\\';
    const { id, expires, signature } = partsOf(links.sign(odd).url);
    expect(id).toBe(odd);
    expect(links.verify(id, expires, signature)).toBe('valid');
  });
});
