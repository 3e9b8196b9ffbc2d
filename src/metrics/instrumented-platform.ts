import type { Platform } from '../chat/platform.ts';
import { asDailiesError } from '../errors.ts';

/** Records the outcome of each platform call: `ok` or an error code. */
export type PlatformMeter = (platform: string, call: string, outcome: string) => void;

/** Wraps `platform` so that `meter` records every message sent to it. */
export function instrumentPlatform(platform: Platform, meter: PlatformMeter): Platform {
  const measure = async <T>(call: string, send: () => Promise<T>): Promise<T> => {
    try {
      const result = await send();
      meter(platform.name, call, 'ok');
      return result;
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
    open: (...args) => measure('open', () => platform.open(...args)),
    edit: (message, origin, view, urgency) => {
      const call = urgency === 'progress' ? 'progress' : 'edit';
      return measure(call, () => platform.edit(message, origin, view, urgency));
    },
    attach: (...args) => measure('attach', () => platform.attach(...args)),
    notify: (...args) => measure('notify', () => platform.notify(...args)),
    missingRight: (...args) => platform.missingRight(...args),
    audience: (...args) => platform.audience(...args),
    rights: (...args) => platform.rights(...args),
    directChannel: (...args) => platform.directChannel(...args),
    notReady: () => platform.notReady(),
    connection: () => platform.connection(),
    start: () => platform.start(),
    stop: () => platform.stop(),
  };
}
