import { createHash } from 'node:crypto';
import { reactionAction } from '#commands/ui/buttons.ts';
import { isNewMessage, type MessageEvent } from './command-text.ts';

/** The fields of a payload that identify its request. */
export interface RequestBody {
  readonly type?: unknown;
  readonly command?: unknown;
  readonly trigger_id?: unknown;
  readonly event_id?: unknown;
  readonly event?: MessageEvent & {
    readonly type?: unknown;
    readonly reaction?: unknown;
    readonly item?: { readonly type?: unknown };
  };
  readonly view?: { readonly id?: string; readonly hash?: string; readonly state?: unknown };
  readonly container?: { readonly type?: unknown };
}

/** A classified request with its idempotency key. */
export interface KnownRequest {
  readonly kind: 'command' | 'action' | 'shortcut' | 'submission' | 'event';
  /** Idempotency key, equal for every delivery of the same request; also {@link Caller.interaction}. */
  readonly id: string;
  /** True if it may change or spend something: it is then persisted before it is acknowledged. */
  readonly isKept: boolean;
}

/** Events that the bot handles exactly once. */
const KEPT_EVENTS: ReadonlySet<unknown> = new Set([
  'app_mention',
  'reaction_added',
  'app_uninstalled',
  'tokens_revoked',
]);

/**
 * Classifies a request and derives its idempotency key, which its retries share: events by `event_id`, commands,
 * buttons and shortcuts by `trigger_id`, modals by their view and its values (a rejected modal keeps its id and hash).
 * @returns `null` for requests of an unknown type.
 */
export function readRequest(body: RequestBody): KnownRequest | null {
  if (typeof body.command === 'string') return byTrigger('command', body, true);
  switch (body.type) {
    case 'event_callback':
      return typeof body.event_id === 'string' ? { kind: 'event', id: body.event_id, isKept: isKeptEvent(body) } : null;
    case 'block_actions':
      return byTrigger('action', body, body.container?.type !== 'view');
    case 'message_action':
    case 'shortcut':
      return byTrigger('shortcut', body, true);
    case 'view_submission':
      return typeof body.view?.id === 'string'
        ? { kind: 'submission', id: submissionId(body.view), isKept: true }
        : null;
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

function byTrigger(kind: 'command' | 'action' | 'shortcut', body: RequestBody, isKept: boolean): KnownRequest | null {
  return typeof body.trigger_id === 'string' ? { kind, id: body.trigger_id, isKept } : null;
}

/** Returns whether an event is handled once: excludes meaningless reactions and the bot's own direct messages. */
function isKeptEvent({ event }: RequestBody): boolean {
  if (event?.type === 'message') return event.channel_type === 'im' && isNewMessage(event);
  if (!KEPT_EVENTS.has(event?.type)) return false;
  if (event?.type !== 'reaction_added') return true;
  const { reaction, item } = event;
  return item?.type === 'message' && typeof reaction === 'string' && reactionAction(reaction) !== null;
}

/** Returns a request without its verification token, a secret that is not needed, for storage. */
export function withoutSecrets(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { token: _token, ...rest } = body;
  return rest;
}
