import { createHash } from 'node:crypto';
import { reactionAction } from '#commands/ui/buttons.ts';
import { isNewMessage, type MessageEvent } from './command-text.ts';

/** A body that Slack sent, as far as it is looked at before anything is done with it. */
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

/** What a request is, and what is to be done with it. */
export interface KnownRequest {
  readonly kind: 'command' | 'action' | 'shortcut' | 'submission' | 'event';
  /** The same for every delivery of the same thing; also {@link Caller.interaction}. */
  readonly id: string;
  /** Whether it may change or spend something: then it is written down before it is acknowledged. */
  readonly isKept: boolean;
}

/** Events that mean something to the bot and are done once. */
const KEPT_EVENTS: ReadonlySet<unknown> = new Set([
  'app_mention',
  'reaction_added',
  'app_uninstalled',
  'tokens_revoked',
]);

/**
 * Tells what a request is, by the id that its repetitions share: events by `event_id`, commands, buttons and shortcuts
 * by `trigger_id`, forms by their view and what was filled in (a form that was refused keeps its id and its hash).
 * `null`: nothing that the bot knows.
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

/** The id of a sent form. */
export function submissionId({ id, hash, state }: NonNullable<RequestBody['view']>): string {
  const filledIn = createHash('sha256')
    .update(JSON.stringify(state ?? null))
    .digest('hex')
    .slice(0, 16);
  return `${id ?? ''}.${hash ?? ''}.${filledIn}`;
}

function byTrigger(kind: 'command' | 'action' | 'shortcut', body: RequestBody, isKept: boolean): KnownRequest | null {
  return typeof body.trigger_id === 'string' ? { kind, id: body.trigger_id, isKept } : null;
}

/** Most reactions in a workspace are about something else; in a direct message, the bot hears its own words as well. */
function isKeptEvent({ event }: RequestBody): boolean {
  if (event?.type === 'message') return event.channel_type === 'im' && isNewMessage(event);
  if (!KEPT_EVENTS.has(event?.type)) return false;
  if (event?.type !== 'reaction_added') return true;
  const { reaction, item } = event;
  return item?.type === 'message' && typeof reaction === 'string' && reactionAction(reaction) !== null;
}

/** A request as it may be stored: the verification token is of no use, and a token all the same. */
export function withoutSecrets(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { token: _token, ...rest } = body;
  return rest;
}
