import {
  comparisonKinds,
  deliveryRecords,
  endNotices,
  messageKinds,
  requestNotices,
  retractions,
  setNotices,
  subscriptionsOfTeams,
} from '../chat/index.ts';
import { completions, removalJobs, retentionCursors } from '../clips/index.ts';
import { type AnyCollection, queuePauses } from '../engine/index.ts';
import { galleryKinds } from '../gallery/index.ts';
import { libraryFiles, relayedFiles } from '../media/index.ts';
import {
  armedAlerts,
  bookChecks,
  budgets,
  carriedKinds,
  creditIncidents,
  environments,
  monthlyReports,
  statementKinds,
  teamNotices,
} from '../money/index.ts';
import { boardRecords, cutRecords } from '../orders/index.ts';
import { erasures } from '../people/index.ts';
import { draftKinds, upstreamKinds } from '../pipeline/index.ts';
import { durations, ledgerRecords, taskRecords } from '../tasks/index.ts';
import { approversOfTeams, auditRecords, personalDefaults, shelves, teamSettings } from '../teams/index.ts';

/**
 * Every kind of record, in the order in which a person is forgotten and exported. Those of the chat platforms are not among
 * them: a platform forgets a person by itself.
 */
export const RECORD_KINDS: readonly AnyCollection[] = [
  taskRecords,
  ledgerRecords,
  ...upstreamKinds,
  durations,
  queuePauses,
  ...draftKinds,
  boardRecords,
  cutRecords,
  ...comparisonKinds,
  ...messageKinds,
  deliveryRecords,
  endNotices,
  setNotices,
  requestNotices,
  retractions,
  removalJobs,
  erasures,
  retentionCursors,
  completions,
  subscriptionsOfTeams,
  approversOfTeams,
  personalDefaults,
  teamSettings,
  shelves,
  relayedFiles,
  libraryFiles,
  ...galleryKinds,
  budgets,
  ...carriedKinds,
  armedAlerts,
  creditIncidents,
  monthlyReports,
  teamNotices,
  ...statementKinds,
  bookChecks,
  auditRecords,
  environments,
];
