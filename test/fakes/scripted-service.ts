import { accept } from './faults.ts';
import { type Call, type FakeTask, type FakeVideoService, startVideoService } from './video-service.ts';

/** Behaviour of the service for one prompt, by the prompt's first word. */
const SCRIPTS = {
  /** Completes after a poll. */
  done: {},
  /** Accepts the create and never responds. */
  hang: { create: accept },
  /** Accepts the create and resets the connection. */
  uncertain: {
    create: (call: Call) => {
      accept(call);
      call.response.socket?.resetAndDestroy();
    },
  },
  rejected: { create: ({ refuse }: Call) => refuse(400, 'invalid_request', 'No.') },
  /** Takes no further tasks for a minute. */
  busy: { create: ({ refuse }: Call) => refuse(429, 'rate_limited', 'Slow down.', { 'retry-after': '60' }) },
  /** Never finishes. */
  open: { status: 'in_progress' },
  /** Never finishes, either; a test cancels it. */
  late: { status: 'in_progress' },
  failed: { status: 'failed' },
  /** Never sends the clip. */
  fetching: { content: () => undefined },
  /** Lost the clip. */
  unfetchable: { content: ({ refuse }: Call) => refuse(410, 'content_expired', 'It is gone.') },
} as const satisfies Readonly<Record<string, Script>>;

interface Script {
  readonly create?: (call: Call) => unknown;
  readonly status?: FakeTask['status'];
  readonly content?: (call: Call) => unknown;
}

/** First word of a prompt that {@link startScriptedService} knows. */
export type ScriptName = keyof typeof SCRIPTS;

/** A video service that treats each task by the first word of its prompt, and counts the POSTs of each prompt. */
export interface ScriptedService extends FakeVideoService {
  /** Number of POSTs by prompt. */
  readonly postsOf: ReadonlyMap<string, number>;
  /** Scripts that are off: their tasks are treated as `done`. */
  readonly off: Set<ScriptName>;
}

/** Starts a {@link ScriptedService}. */
export async function startScriptedService(): Promise<ScriptedService> {
  const service = await startVideoService({ pollsUntilDone: 1 });
  const usual = { ...service.handlers };
  const postsOf = new Map<string, number>();
  const promptOf = new Map<string, string>();
  const off = new Set<ScriptName>();
  const scriptOf = (prompt: string | undefined): Script => {
    const name = prompt?.split(' ')[0] as ScriptName;
    return off.has(name) ? {} : (SCRIPTS[name] ?? {});
  };
  service.handlers.create = (call) => {
    const { prompt } = JSON.parse(call.request.body) as { readonly prompt: string };
    postsOf.set(prompt, (postsOf.get(prompt) ?? 0) + 1);
    const known = new Set(service.tasks.keys());
    (scriptOf(prompt).create ?? usual.create)(call);
    for (const id of service.tasks.keys()) if (!known.has(id)) promptOf.set(id, prompt);
  };
  service.handlers.retrieve = (call) => {
    const { status } = scriptOf(promptOf.get(call.task?.id ?? ''));
    if (call.task !== undefined && status !== undefined) {
      call.task.status = status;
      if (status !== 'failed') call.task.polls = 0;
      else call.task.failure = { code: 'generation_failed', message: 'It did not work out.' };
    }
    usual.retrieve(call);
  };
  service.handlers.content = (call) => (scriptOf(promptOf.get(call.task?.id ?? '')).content ?? usual.content)(call);
  return Object.assign(service, { postsOf, off });
}
