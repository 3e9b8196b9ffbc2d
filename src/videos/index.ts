export {
  type AddressGuard,
  type AddressRefusal,
  addressesOf,
  addressKindOf,
  bareHost,
  guardPublicAddresses,
  isLoopbackHost,
  parseBaseUrl,
} from './addresses.ts';
export { parseCatalog, priceFingerprint, readCatalog } from './catalog.ts';
export { isChained, isLastFrame, LAST_FRAME, unframed } from './chain.ts';
export {
  type Checked,
  type CheckedStoryboard,
  COMPARED,
  checkAgain,
  checkRequest,
  checkRetry,
  draftOfComparison,
  draftOfOrder,
  draftOfRequest,
  lengthOf,
  MAX_TAKES,
} from './check.ts';
export { VIDEO_TYPES } from './content/container.ts';
export type { Credit, ModelListing } from './dialects/dialect.ts';
export { DIALECTS } from './dialects/registry.ts';
export { modelFingerprint, requestAt, requestElsewhere } from './elsewhere.ts';
export { TOKEN } from './exchange.ts';
export { InvalidFileError } from './json-file.ts';
export { fetchCredit, fetchListing } from './listing/fetch.ts';
export { readableExtensions, readableMedia } from './media-kind.ts';
export {
  type Catalog,
  collectSettings,
  defaultSeconds,
  idOf,
  isOffered,
  listed,
  type Model,
  offerInWords,
  type Range,
  SETTINGS,
  type Setting,
  secondsOffered,
  settingNamed,
  titled,
  titleOf,
} from './model.ts';
export { checkDefaults, type Defaults, isPersonal, personalCatalog } from './personal-defaults.ts';
export { type CheckReferences, createReferenceCheck, KEPT_ORIGIN, splitAddresses } from './references/addresses.ts';
export { namesIn, withNames } from './references/names.ts';
export {
  ASPECT_RATIOS,
  type AspectRatio,
  MEDIA_KINDS,
  type MediaKind,
  RESOLUTIONS,
  type Refusal,
  type RequestDraft,
  type RequestSettings,
  type Resolution,
  type SettingName,
  SHOTS,
  type ShotDraft,
  type VideoRequest,
} from './request.ts';
export type { Clip, Cost, CreateOutcome, UpstreamId, UpstreamTask, VideoService, VideoServices } from './service.ts';
export { createVideoServices, keptBytes, serviceKeys, serviceNamed } from './services.ts';
export { readServices, type ServiceConfig } from './services-file.ts';
export { allowedStyles, asTyped, orderDefaults, type Style, styleNamed, withStyle } from './styles.ts';
export {
  allowedSeconds,
  allowsModel,
  allowsResolution,
  allowsSeconds,
  clipsRefused,
  isSameWord,
  type PolicyRefusal,
  policyRefusals,
  type ValueRules,
} from './value-rules.ts';
