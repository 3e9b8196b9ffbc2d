import type { Clock } from '#src/clock.ts';
import { FileLinks, SignedLinks } from '#src/media/clip-links.ts';
import { KEPT_ORIGIN } from '#src/videos/references/addresses.ts';

/** Returns the addresses of kept files. @param links `null`: there is no public address */
export function fileLinks(clock: Pick<Clock, 'now'>, links: SignedLinks | null): FileLinks {
  return new FileLinks(
    new SignedLinks({ publicUrl: KEPT_ORIGIN, secret: 'a secret of the bot', clock: clock as Clock }),
    links,
  );
}
