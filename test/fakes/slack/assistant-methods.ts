import { z } from 'zod';
import { checked, json, timestamp } from './form.ts';
import type { Call, Method } from './methods.ts';
import { Refusal } from './refusal.ts';

const place = { channel_id: z.string().min(1), thread_ts: timestamp };
const statusForm = z.strictObject({
  ...place,
  status: z.string(),
  // @see docs.slack.dev/reference/methods/assistant.threads.setStatus: "Maximum of 10 messages"
  loading_messages: json(z.array(z.string().min(1)).max(10)).optional(),
});
const titleForm = z.strictObject({ ...place, title: z.string().min(1) });
/**
 * "Use this method to set up to four suggested prompts", each "with its title and message attribute".
 * @see docs.slack.dev/reference/methods/assistant.threads.setSuggestedPrompts
 */
const promptsForm = z.strictObject({
  ...place,
  title: z.string().min(1).optional(),
  prompts: json(
    z
      .array(z.strictObject({ title: z.string().min(1), message: z.string().min(1) }))
      .min(1)
      .max(4),
  ),
});

/**
 * Checks that a thread is one of the assistant pane.
 * @throws Refusal channel_not_found, invalid_thread_ts
 * @see docs.slack.dev/reference/methods/assistant.threads.setStatus
 */
function demandThread(
  { world, team, method }: Call,
  { channel_id, thread_ts }: { readonly channel_id: string; readonly thread_ts: string },
): void {
  const channel = world.reachable(team, channel_id);
  const root = world.messages.get(thread_ts);
  if (channel.kind === 'dm' && root?.channelId === channel.id && world.panes.has(thread_ts)) return;
  throw new Refusal('invalid_thread_ts', { violation: `${method} outside of the assistant pane` });
}

/** Methods for the assistant pane. @see docs.slack.dev/ai/developing-agents */
export const assistantMethods = {
  // "accepts either the assistant:write or chat:write scope for the time being. Soon, … only … chat:write".
  'assistant.threads.setStatus': {
    by: 'bot',
    scopes: ['chat:write'],
    tier: 4,
    handle(call) {
      const form = checked(statusForm, call.args, { what: call.method });
      demandThread(call, form);
      call.world.panes.set(form.thread_ts, { status: form.status, atMs: call.world.clock.now() });
      return {};
    },
  },
  'assistant.threads.setSuggestedPrompts': {
    by: 'bot',
    scopes: ['assistant:write'],
    tier: 4,
    handle(call) {
      demandThread(call, checked(promptsForm, call.args, { what: call.method }));
      return {};
    },
  },
  'assistant.threads.setTitle': {
    by: 'bot',
    scopes: ['assistant:write'],
    tier: 4,
    handle(call) {
      demandThread(call, checked(titleForm, call.args, { what: call.method }));
      return {};
    },
  },
} as const satisfies Record<string, Method>;
