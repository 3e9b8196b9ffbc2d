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
import { button, shortId } from '../ui/buttons.ts';
import {
  type Block,
  type CardButton,
  facts,
  heading,
  item,
  type Line,
  layOut,
  type Optional,
  type Picture,
  small,
} from '../ui/card.ts';
import { approvableBy, pressApprove, pressDeny, requestId, requestPrice, requestWith } from './decide.ts';

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
  presses: { approve: pressApprove, deny: pressDeny },
};

/** Shows the requests that wait for the caller, the caller's own, and the latest decisions. */
async function listApprovals(ports: BotPorts, caller: Caller): Promise<Reply> {
  const waiting = await ports.approvals.waiting(teamOf(caller));
  const theirs = waiting.filter(([{ origin }]) => origin.user.id === caller.user.id);
  const approvable = await approvableBy(ports, caller, waiting);
  const latest = await ports.tasks.history(visibleTo(caller), { offset: 0, limit: MAX_SEARCHED });
  const forCaller = await listed(ports, caller, approvable.slice(0, MAX_SHOWN));
  const own = await listed(ports, caller, theirs.slice(0, MAX_SHOWN));
  const decided = await listed(ports, caller, await requestsOf(ports, latest.filter(isDecided)));
  const more = approvable.length - forCaller.length;
  const card = layOut(
    [
      heading('Waiting for you'),
      forCaller.length === 0 && ['Nothing is waiting for you.'],
      ...forCaller.map((one, index) => waitingBlock(one, index, forCaller.length)),
      more > 0 && small(`And ${more} more, later ones.`),
      ...(own.length === 0 ? [] : [heading('Your requests'), ...own.map(ownBlock)]),
      ...(decided.length === 0 ? [] : [heading('Lately decided'), ...decided.map(decidedBlock)]),
    ],
    { buttons: forCaller.flatMap((one, index) => numbered(one.tasks, index, forCaller.length)) },
  );
  return privately(card);
}

function isDecided({ approval, state }: Task): boolean {
  return approval !== undefined && (approval.approved !== undefined || state === 'declined');
}

/** Returns the latest requests that tasks belong to, a set as one. */
function requestsOf({ chat }: BotPorts, tasks: readonly Task[]): Promise<readonly ApprovalTasks[]> {
  const latest = [...Map.groupBy(tasks, orderIdOf).values()].slice(0, MAX_SHOWN);
  const requests = latest.flatMap(([task]) => (task === undefined ? [] : [task]));
  return Promise.all(requests.map((task) => requestWith(chat, task)));
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
      const isPromptShown = isSeen || task.approval?.isPromptShown === true;
      const picture = isPromptShown ? await ports.pictures.forRequest(task) : null;
      return {
        tasks: [titled(ports.catalog(), task), ...others.map((one) => titled(ports.catalog(), one))],
        isPromptShown,
        picture: picture && { ...picture, alt: `Picture for “${typedPrompt(task.request)}”` },
        message: isSeen ? await ports.chat.messageOf(requestId(tasks)) : undefined,
      };
    }),
  );
}

/** Request in a list: one line, also for a set. */
interface ListedRequest {
  readonly tasks: ApprovalTasks;
  readonly isPromptShown: boolean;
  readonly picture: Picture | null;
  /** Its message, if it has one that the caller may see. */
  readonly message: MessageRef | undefined;
}

function waitingBlock(one: ListedRequest, index: number, count: number): Block {
  const number: Line = count === 1 ? [] : [`${index + 1}. `];
  const small = facts(...requestFacts(one), expiry(one));
  return item([...number, ...titleOf(one)], small, undefined, one.picture);
}

/** Numbers the buttons like the requests, if there are several. */
function numbered(tasks: ApprovalTasks, index: number, count: number): readonly CardButton[] {
  return approvalButtons(requestId(tasks), requestPrice(tasks)).map((button) => ({
    ...button,
    label: count === 1 ? button.label : `${index + 1} · ${button.label}`,
  }));
}

function ownBlock(one: ListedRequest): Block {
  const title = facts(formatPrice(requestPrice(one.tasks)), promptLine(one));
  const withdraw = button({ action: 'withdraw', task: requestId(one.tasks) }, 'Withdraw');
  return item(title, facts(...requestFacts(one), expiry(one)), withdraw, one.picture);
}

function decidedBlock(one: ListedRequest): Block {
  const { tasks, message, picture } = one;
  const small = facts(decisionWords(tasks[0]), ...requestFacts(one));
  return item(titleOf(one), small, message && { message, label: 'Open' }, picture);
}

function titleOf(one: ListedRequest): Line {
  const [{ origin }] = one.tasks;
  return facts([{ person: origin.user }], formatPrice(requestPrice(one.tasks)), promptLine(one));
}

function expiry({ tasks: [{ approval }] }: ListedRequest): Line {
  return ['expires ', { timeMs: approval?.expiresAtMs ?? 0 }];
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

function requestFacts({ tasks }: ListedRequest): readonly Optional<Line | string>[] {
  const [{ id, request, set }] = tasks;
  const isSame = new Set(tasks.map((task) => `${task.request.seconds} ${task.request.model}`)).size === 1;
  return [
    isSame && [{ untrusted: request.model }],
    isSame && `${request.seconds} s`,
    set && setSize(set),
    [{ code: shortId(id) }],
  ];
}
