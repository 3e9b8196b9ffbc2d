export { type AccessConfig, rulesOf, splitList, teamListOf } from './access-list.ts';
export { type Admin, adminListOf, BUILT_IN_ADMINS, isAmong } from './admins.ts';
export { Approvers, approversFor, type TeamApprover, whoDecides } from './approvers.ts';
export { type AuditedChange, AuditTrail } from './audit/audit.ts';
export {
  type Actor,
  type AuditAction,
  type AuditEntry,
  type AuditValue,
  type LoggedEntry,
  type LoggedValue,
  noteFact,
  priceFacts,
  type Surface,
  textFact,
} from './audit/audit-entry.ts';
export { keyOfMember, type MemberKey, PersonalDefaults } from './personal-defaults.ts';
export {
  allowedCatalog,
  changedPolicy,
  channelRules,
  NO_POLICY,
  type Policy,
  type PolicyPlace,
  type PolicyRules,
  type RuleName,
  type RulesPatch,
  type RuleValue,
  rulesAt,
  valueRules,
} from './policy/policy.ts';
export { type PurchaseNow, purchaseAt, refusedBy } from './policy/purchase-check.ts';
export { MAX_IMAGES, References, referenceNameOf } from './references.ts';
export {
  DEFAULT_SETTINGS,
  type Pause,
  type SettingValues,
  TEAM_SETTINGS,
  type TeamSettings,
} from './settings-schema.ts';
export {
  keyOfTeam,
  type PauseInEffect,
  pauseAt,
  settingsUnchanged,
  type TeamKey,
  TeamSettingsRepository,
} from './team-settings.ts';
