import type { Task } from '#src/tasks/task.ts';
import type { History, Kept, Pressed, Violation } from '../history.ts';

const DECISIONS = { denied: ['deny'], withdrawn: ['withdraw', 'cancel', '❌'] } as const;

/** Checks that a request for approval is bought only once somebody else has approved it, and ends as users decided. */
export function checkApprovals({
  creates,
  commits,
  pressed,
  store,
}: Pick<History, 'creates' | 'commits' | 'pressed'> & { readonly store: Pick<Kept, 'tasks'> }): readonly Violation[] {
  const written = commits
    .flat()
    .flatMap((write) => (write.of === 'task' && write.value !== null ? [write.value] : []))
    .filter(isUnapprovedPurchase)
    .map(({ id, state }) => ({ name: 'bought without an approval', what: `task ${id} became ${state}` }));
  return [
    ...written,
    ...[...store.tasks.values()].flatMap((task) => {
      const { id, state } = task;
      const posts = creates.filter(({ key }) => key === id).length;
      const isRequest = task.approval !== undefined && task.approval.approved === undefined;
      return [
        ...(isRequest && posts > 0
          ? [{ name: 'bought without an approval', what: `task ${id} (${state}): ${posts} POSTs` }]
          : []),
        ...wrongDecisions(
          task,
          pressed.filter((press) => press.task === id),
        ),
      ];
    }),
  ];
}

function isUnapprovedPurchase({ state, approval }: Task): boolean {
  return approval !== undefined && approval.approved === undefined && state !== 'requested' && state !== 'declined';
}

/** Checks that the recorded person made the decision, and that no one approved a request of their own. */
function wrongDecisions({ id, state, origin, approval, declined }: Task, pressed: readonly Pressed[]) {
  const name = 'decision that no user made';
  const has = (user: string | undefined, actions: readonly string[]): boolean =>
    pressed.some((press) => press.user === user && actions.includes(press.action));
  const approver = approval?.approved?.by.id;
  const actions = declined === undefined || !(declined.how in DECISIONS) ? null : DECISIONS[declined.how as 'denied'];
  return [
    ...(approver !== undefined && !has(approver, ['approve'])
      ? [{ name, what: `task ${id} (${state}) was approved by ${approver}` }]
      : []),
    ...(approver !== undefined && approver === origin.user.id
      ? [{ name: 'own request approved', what: `task ${id} (${state}), ${approver}` }]
      : []),
    ...(actions !== null && !has(declined?.by?.id, actions)
      ? [{ name, what: `task ${id} was ${declined?.how} by ${declined?.by?.id}` }]
      : []),
  ];
}
