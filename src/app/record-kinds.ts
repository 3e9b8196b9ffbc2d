import {
  cards,
  comparisonRecords,
  comparisonSecrets,
  comparisonWins,
  deliveryRecords,
  endNotices,
  openings,
  requestNotices,
  retractions,
  setNotices,
  subscriptionsOfTeams,
  tasksOfMessages,
} from '../chat/index.ts';
import { completions, removalJobs, retentionCursors } from '../clips/index.ts';
import { type AnyCollection, queuePauses } from '../engine/index.ts';
import { galleryLinks, gallerySessions } from '../gallery/index.ts';
import { libraryFiles, relayedFiles } from '../media/index.ts';
import {
  armedAlerts,
  bookChecks,
  budgets,
  carriedSpend,
  carryKeys,
  creditIncidents,
  environments,
  monthlyReports,
  restoredSpend,
  statementDecisions,
  statementImports,
  statementPages,
  teamNotices,
  teamStatements,
} from '../money/index.ts';
import { boardRecords, cutRecords } from '../orders/index.ts';
import { erasures } from '../people/index.ts';
import { draftRecords, equalDrafts, idAttempts, retryPresses, upstreamHolders } from '../pipeline/index.ts';
import { durations, ledgerRecords, taskRecords } from '../tasks/index.ts';
import { approversOfTeams, auditRecords, personalDefaults, shelves, teamSettings } from '../teams/index.ts';

/**
 * Every kind of record, in the order in which a person is forgotten and exported. Those of the chat platforms are not among
 * them: a platform forgets a person by itself.
 */
export const RECORD_KINDS: readonly AnyCollection[] = [
  taskRecords,
  ledgerRecords,
  upstreamHolders,
  idAttempts,
  durations,
  queuePauses,
  draftRecords,
  retryPresses,
  equalDrafts,
  boardRecords,
  cutRecords,
  comparisonRecords,
  comparisonWins,
  comparisonSecrets,
  cards,
  openings,
  tasksOfMessages,
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
  galleryLinks,
  gallerySessions,
  budgets,
  carryKeys,
  carriedSpend,
  restoredSpend,
  armedAlerts,
  creditIncidents,
  monthlyReports,
  teamNotices,
  statementImports,
  teamStatements,
  statementPages,
  statementDecisions,
  bookChecks,
  auditRecords,
  environments,
];
