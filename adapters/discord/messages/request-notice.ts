import { approvalCard } from '#commands/sentences/approvals/requests.ts';
import type { ApprovalNotice } from '#src/chat/notices/views.ts';
import { type Body, renderCard } from './render.ts';

/** Users, and roles, in `allowed_mentions`. @see https://discord.com/developers/docs/resources/message#allowed-mentions-object */
const MAX_ALLOWED = 100;

/** Renders the notice to the approvers of a request, which pings them only. */
export function renderRequest(view: ApprovalNotice, guild: string | null): Body {
  const idsOf = (isPerson: boolean): readonly string[] =>
    view.pings
      .filter(({ kind }) => (kind === 'person') === isPerson)
      .slice(0, MAX_ALLOWED)
      .map(({ id }) => id);
  const allowed = { parse: [], users: idsOf(true), roles: idsOf(false), replied_user: false } as const;
  return { ...renderCard(approvalCard(view), { guild }), allowed_mentions: allowed };
}
