import { createHash } from 'node:crypto';

interface RequestBody {
  readonly type?: unknown;
  readonly command?: unknown;
  readonly trigger_id?: unknown;
  readonly event_id?: unknown;
  readonly view?: { readonly id?: string; readonly hash?: string; readonly state?: unknown };
}

/** A classified request with its idempotency key. */
export interface KnownRequest {
  readonly kind: 'command' | 'action' | 'shortcut' | 'submission' | 'event';
  /** Idempotency key, equal for every delivery of the same request; also {@link Caller.interaction}. */
  readonly id: string;
}

/**
 * Classifies a request and derives its idempotency key, which its retries share: events by `event_id`, commands,
 * buttons and shortcuts by `trigger_id`, modals by their view and its values (a rejected modal keeps its id and hash).
 * @returns `null` for requests of an unknown type.
 */
export function readRequest(body: RequestBody): KnownRequest | null {
  if (typeof body.command === 'string') return byTrigger('command', body);
  switch (body.type) {
    case 'event_callback':
      return typeof body.event_id === 'string' ? { kind: 'event', id: body.event_id } : null;
    case 'block_actions':
      return byTrigger('action', body);
    case 'message_action':
    case 'shortcut':
      return byTrigger('shortcut', body);
    case 'view_submission':
      return typeof body.view?.id === 'string' ? { kind: 'submission', id: submissionId(body.view) } : null;
    default:
      return null;
  }
}

/** Returns the idempotency key of a submitted modal. */
export function submissionId({ id, hash, state }: NonNullable<RequestBody['view']>): string {
  const digest = createHash('sha256')
    .update(JSON.stringify(state ?? null))
    .digest('hex')
    .slice(0, 16);
  return `${id ?? ''}.${hash ?? ''}.${digest}`;
}

function byTrigger(kind: 'command' | 'action' | 'shortcut', body: RequestBody): KnownRequest | null {
  return typeof body.trigger_id === 'string' ? { kind, id: body.trigger_id } : null;
}
