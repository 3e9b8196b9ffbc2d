import type { ApprovalTasks } from '#src/money/index.ts';
import { orderIdOf, type Task } from '#src/tasks/index.ts';
import { titled } from '#src/videos/index.ts';
import type { Caller, Reply } from '../bot-port.ts';
import { type BotPorts, privately, type Subcommand, teamOf, visibleTo } from '../input/subcommand.ts';
import { visibleAmong } from '../input/task-lookup.ts';
import { requestId } from '../sentences/approvals/answers.ts';
import { approvalsCard, type ListedRequest } from '../sentences/cards/approvals.ts';
import { approvableBy } from './decide.ts';

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
