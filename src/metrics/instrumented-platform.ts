import type { Platform } from '../chat/platform.ts';
import { asDailiesError } from '../errors.ts';

/** Who wants to know how calls of a platform end: `ok` or an error code. */
export type PlatformMeter = (platform: string, call: string, outcome: string) => void;

/** `platform`, with what is sent to it told to `meter`. */
export function instrumentPlatform(platform: Platform, meter: PlatformMeter): Platform {
  const measure = async <T>(call: string, send: () => Promise<T>): Promise<T> => {
    try {
      const answer = await send();
      meter(platform.name, call, 'ok');
      return answer;
    } catch (thrown) {
      meter(platform.name, call, asDailiesError(thrown, call).code);
      throw thrown;
    }
  };
  return {
    name: platform.name,
    get limits() {
      return platform.limits;
    },
    open: (...given) => measure('open', () => platform.open(...given)),
    edit: (message, origin, view, urgency) => {
      const call = urgency === 'progress' ? 'progress' : 'edit';
      return measure(call, () => platform.edit(message, origin, view, urgency));
    },
    attach: (...given) => measure('attach', () => platform.attach(...given)),
    notify: (...given) => measure('notify', () => platform.notify(...given)),
    missingRight: (...given) => platform.missingRight(...given),
    audience: (place) => platform.audience(place),
    rights: (...given) => platform.rights(...given),
    directChannel: (...given) => platform.directChannel(...given),
    notReady: () => platform.notReady(),
    connection: () => platform.connection(),
    start: () => platform.start(),
    stop: () => platform.stop(),
  };
}
