import type { Caller, OptionDeclaration, Reply } from '../bot-port.ts';
import { isSet } from '../input/options.ts';
import { type BotPorts, isOperator, privately, refused, type Subcommand, teamOf } from '../input/subcommand.ts';
import { administratorsOnly } from '../sentences/access.ts';
import { auditCard, OPERATORS_ONLY } from '../sentences/administration/audit.ts';
import { type AuditPage, pageButtons } from '../ui/page-buttons.ts';

const PAGE_LENGTH = 10;

const options: readonly OptionDeclaration[] = [
  { name: 'deployment', description: 'Shows what was changed in the environment of the bot instead', kind: 'flag' },
];

/** `/video audit`: who changed what, and when. */
export const audit: Subcommand = {
  declaration: {
    name: 'audit',
    description: 'Shows who changed settings, budgets and approvals, and when',
    example: '/video audit',
    options,
    visibility: 'private',
    isAdministrative: true,
  },
  run: (ports, caller, given) =>
    showAudit(ports, caller, { list: 'audit', offset: 0, isDeployment: isSet(given, 'deployment') }),
};

/** Shows a page of the audit log of the team, or of the deployment, to the caller only. */
export async function showAudit(ports: BotPorts, caller: Caller, page: AuditPage): Promise<Reply> {
  if (!caller.mayAdminister) return refused(administratorsOnly(caller.platform));
  const { offset, isDeployment } = page;
  // Its entries concern all teams. The playground's operator runs the bot.
  if (isDeployment && caller.platform !== 'playground' && !isOperator(ports, caller)) return refused(OPERATORS_ONLY);
  const log = isDeployment ? 'deployment' : teamOf(caller);
  const [{ entries, total }, { timeZone }] = await Promise.all([
    ports.audit.page(log, { offset, limit: PAGE_LENGTH }),
    ports.settings.get(teamOf(caller)),
  ]);
  const hasMore = total > offset + PAGE_LENGTH;
  const buttons = pageButtons({ page, length: PAGE_LENGTH, hasMore, labels: ['Newer', 'Older'] });
  return privately(auditCard({ entries, total, isDeployment, timeZone, catalog: ports.catalog(), buttons }));
}
