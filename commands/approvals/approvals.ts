import type { MessageRef } from '#src/chat/index.ts';
import type { ApprovalTasks } from '#src/money/index.ts';
import { formatPrice, orderIdOf, type Task, typedPrompt } from '#src/tasks/index.ts';
import { titled } from '#src/videos/index.ts';
import type { Caller, Reply } from '../bot-port.ts';
import { type BotPorts, privately, type Subcommand, teamOf, visibleTo } from '../input/subcommand.ts';
import { visibleAmong } from '../input/task-lookup.ts';
import { approvalButtons } from '../sentences/cards/approval.ts';
import { shorten } from '../sentences/format.ts';
import { setSize } from '../sentences/ordered.ts';
import { shortId, taskButtonId } from '../ui/buttons.ts';
import { type Block, type Card, type CardButton, type Line, layOut } from '../ui/card.ts';
import { approvableBy, requestId, requestPrice } from './decide.ts';

/** Largest number of requests in each part of the list. */
const MAX_SHOWN = 5;
/** Number of the team's latest clips that are searched for decisions. */
const MAX_SEARCHED = 200;

/** `/video approvals`: the requests that wait for the caller, the caller's own, and the latest decisions. */
export const approvals: Subcommand = {
  declaration: {
    name: 'approvals',
    description: 'Lists the clips that wait for an approval',
    example: '/video approvals',
    options: [],
    visibility: 'private',
  },
  run: (ports, caller) => listApprovals(ports, caller),
};

async function listApprovals(ports: BotPorts, caller: Caller): Promise<Reply> {
  const waiting = await ports.approvals.waiting(teamOf(caller));
  const own = waiting.filter(([{ origin }]) => origin.user.id === caller.user.id);
  const forCaller = await approvableBy(ports, caller, waiting);
  const latest = await ports.tasks.history(visibleTo(caller), { offset: 0, limit: MAX_SEARCHED });
  const decided = await requestsOf(ports, latest.filter(isDecided));
  return privately(
    approvalsCard({
      forCaller: await listed(ports, caller, forCaller.slice(0, MAX_SHOWN)),
      moreForCaller: Math.max(0, forCaller.length - MAX_SHOWN),
      own: await listed(ports, caller, own.slice(0, MAX_SHOWN)),
      decided: await listed(ports, caller, decided),
    }),
  );
}

function isDecided({ approval, state }: Task): boolean {
  return approval !== undefined && (approval.approved !== undefined || state === 'declined');
}

/** Returns the latest requests that tasks belong to, a set as one. */
function requestsOf({ chat }: BotPorts, tasks: readonly Task[]): Promise<readonly ApprovalTasks[]> {
  const latest = [...Map.groupBy(tasks, orderIdOf).values()].slice(0, MAX_SHOWN);
  const requests = latest.flatMap(([task]) => (task === undefined ? [] : [task]));
  return Promise.all(
    requests.map(async (task): Promise<ApprovalTasks> => {
      const [first = task, ...others] = task.set === undefined ? [task] : await chat.setOf(task.set);
      return [first, ...others];
    }),
  );
}

/** Adds the messages; hides prompts that the caller may not see and whose requester has not agreed. */
function listed(
  ports: BotPorts,
  caller: Caller,
  requests: readonly ApprovalTasks[],
): Promise<readonly ListedRequest[]> {
  return Promise.all(
    requests.map(async (tasks) => {
      const [task, ...others] = tasks;
      const isSeen = visibleAmong(caller, [task]).length > 0;
      return {
        tasks: [titled(ports.catalog(), task), ...others.map((one) => titled(ports.catalog(), one))],
        isPromptShown: isSeen || task.approval?.isPromptShown === true,
        message: isSeen ? await ports.chat.messageOf(requestId(tasks)) : undefined,
      };
    }),
  );
}

/** Request in a list: one line, also for a set. */
interface ListedRequest {
  readonly tasks: ApprovalTasks;
  readonly isPromptShown: boolean;
  /** Its message, if it has one that the caller may see. */
  readonly message: MessageRef | undefined;
}

/** Contents of `/video approvals`. */
interface ListedApprovals {
  readonly forCaller: readonly ListedRequest[];
  /** Number of further ones. */
  readonly moreForCaller: number;
  readonly own: readonly ListedRequest[];
  readonly decided: readonly ListedRequest[];
}

/** Shows the requests that wait for the caller, the caller's own, and the latest decisions. */
function approvalsCard({ forCaller, moreForCaller, own, decided }: ListedApprovals): Card {
  const nothing: Block = { kind: 'text', line: ['Nothing is waiting for you.'] };
  const more: Block = { kind: 'small', line: [`And ${moreForCaller} more, later ones.`] };
  return layOut(
    [
      heading('Waiting for you'),
      ...(forCaller.length === 0
        ? [nothing]
        : forCaller.map((one, index) => waitingBlock(one, index, forCaller.length))),
      ...(moreForCaller === 0 ? [] : [more]),
      ...(own.length === 0 ? [] : [heading('Your requests'), ...own.map(ownBlock)]),
      ...(decided.length === 0 ? [] : [heading('Lately decided'), ...decided.map(decidedBlock)]),
    ],
    { buttons: forCaller.flatMap((one, index) => numbered(one.tasks, index, forCaller.length)) },
  );
}

function heading(text: string): Block {
  return { kind: 'heading', line: [text] };
}

function waitingBlock(one: ListedRequest, index: number, count: number): Block {
  const [{ origin, approval }] = one.tasks;
  const number = count === 1 ? '' : `${index + 1}. `;
  const title: Line = [
    number,
    { person: origin.user },
    ` · ${formatPrice(requestPrice(one.tasks))} · `,
    ...promptLine(one),
  ];
  return { kind: 'item', title, small: [...facts(one), ' · expires ', { timeMs: approval?.expiresAtMs ?? 0 }] };
}

/** Numbers the buttons like the requests, if there are several. */
function numbered(tasks: ApprovalTasks, index: number, count: number): readonly CardButton[] {
  return approvalButtons(requestId(tasks), requestPrice(tasks)).map((button) => ({
    ...button,
    label: count === 1 ? button.label : `${index + 1} · ${button.label}`,
  }));
}

function ownBlock(one: ListedRequest): Block {
  const [{ approval }] = one.tasks;
  const small: Line = [...facts(one), ' · expires ', { timeMs: approval?.expiresAtMs ?? 0 }];
  return {
    kind: 'item',
    title: [`${formatPrice(requestPrice(one.tasks))} · `, ...promptLine(one)],
    small,
    accessory: { id: taskButtonId('withdraw', requestId(one.tasks)), label: 'Withdraw', style: 'plain' },
  };
}

function decidedBlock(one: ListedRequest): Block {
  const { tasks, message } = one;
  const [task] = tasks;
  const { origin } = task;
  return {
    kind: 'item',
    title: [{ person: origin.user }, ` · ${formatPrice(requestPrice(tasks))} · `, ...promptLine(one)],
    small: [...decisionWords(task), ' · ', ...facts(one)],
    ...(message === undefined ? {} : { accessory: { message, label: 'Open' } }),
  };
}

function decisionWords({ approval, declined }: Task): Line {
  const approved = approval?.approved;
  if (approved !== undefined) return ['approved by ', { person: approved.by }, ' ', { timeMs: approved.atMs }];
  if (declined === undefined) return ['decided'];
  const { how, by, atMs } = declined;
  const word = how === 'repriced' ? 'ended by a price rise' : how;
  return by === undefined || how === 'repriced'
    ? [`${word} `, { timeMs: atMs }]
    : [`${word} by `, { person: by }, ' ', { timeMs: atMs }];
}

function promptLine({ tasks: [task], isPromptShown }: ListedRequest): Line {
  return isPromptShown ? [{ untrusted: shorten(typedPrompt(task.request), 60) }] : ['from a private channel'];
}

function facts({ tasks }: ListedRequest): Line {
  const [{ id, request, set }] = tasks;
  const isSame = new Set(tasks.map((task) => `${task.request.seconds} ${task.request.model}`)).size === 1;
  const one: Line = isSame ? [{ untrusted: request.model }, ` · ${request.seconds} s · `] : [];
  return [...one, ...(set === undefined ? [] : [`${setSize(set)} · `]), { code: shortId(id) }];
}
