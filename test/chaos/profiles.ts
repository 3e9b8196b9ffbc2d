import { drawLoss, type PollFate, type Stranger, withoutLoss } from './fates.ts';
import type { PlannedOrder } from './plan.ts';
import type { Random } from './random.ts';
import { ARK_WIRE } from './wires/ark.ts';
import { FAL_WIRE } from './wires/fal.ts';
import { OPENROUTER_WIRE } from './wires/openrouter.ts';
import { v1Videos } from './wires/v1-videos.ts';
import type { Wire } from './wires/wire.ts';
import { XAI_WIRE } from './wires/xai.ts';

/**
 * Capability profiles of video services: what one can do beyond the contract of ours. None of our dialects has an idempotency
 * key, so there is no such profile: every service ignores the header of that name.
 */
export const PROFILES = [
  /** Nothing, as our own contract. */
  'none',
  /** Lists its tasks: Ark. It also cancels what is queued. */
  'list',
  /** Cancels what is queued, and forgets it then: fal. */
  'cancel',
  /** Reports what a clip has cost: OpenRouter and xAI. */
  'price',
] as const;
export type ProfileName = (typeof PROFILES)[number];

/** Shares of the runs. */
const SHARES: Readonly<Record<ProfileName, number>> = { none: 40, list: 24, cancel: 18, price: 18 };

const DIALECTS = { none: ['v1-videos'], list: ['ark'], cancel: ['fal'], price: ['openrouter', 'xai'] } as const;
export type DialectName = (typeof DIALECTS)[ProfileName][number];

/** How the list of a service misbehaves. */
export interface Listing {
  /** Age from which a task is in the list. */
  readonly lateMs: number;
  /** Tasks of other days, by which the list has several pages. */
  readonly old: number;
  readonly isOldestFirst: boolean;
  /** One per response; later ones are right. */
  readonly faults: readonly PollFate[];
  /** Only one order's answer is lost by the service itself: with several at a time, none can be told from another. */
  readonly isSingle: boolean;
  /** Stranger's task beside the lost ones. */
  readonly stranger: Stranger | null;
}

/** Capability profile of a run's service. */
export interface Profile {
  readonly name: ProfileName;
  readonly dialect: DialectName;
  /** `null`: it has no list. */
  readonly listing: Listing | null;
  /** Shots of storyboards start with the last frame of the one before, which the request contains. */
  readonly isInline: boolean;
  /** Delay between two runs of the jobs that usually run every 20 seconds, such as the one that reads lists. */
  readonly jobsEveryMs: number;
}

/** Profile of a service of our own contract. */
export const NO_PROFILE: Profile = {
  name: 'none',
  dialect: 'v1-videos',
  listing: null,
  isInline: false,
  jobsEveryMs: 20_000,
};

/** Share of the runs with a list in which the jobs run as seldom as they usually do. */
const SELDOM_SHARE = 0.25;
const SINGLE_SHARE = 0.7;
/** Share of the runs with storyboards whose shots are chained, where a service takes images in the request. */
const INLINE_SHARE = 0.6;
const LATE_SHARE = 0.6;
const PAGED_SHARE = 0.5;
const STRANGER_SHARE = 0.5;
const LIST_FAULTS = { right: 70, error: 8, busy: 4, half: 6, silent: 4, reset: 8 } as const;

/** Draws the profile of a run. @param name given instead of drawn */
export function drawProfile(random: Random, name: ProfileName = random.weighed(SHARES)): Profile {
  if (name === 'none') return NO_PROFILE;
  const dialect = random.pick(DIALECTS[name]);
  // The models of fal take either no image or need one.
  const isInline = name !== 'cancel' && random.chance(INLINE_SHARE);
  if (name !== 'list') return { ...NO_PROFILE, name, dialect, isInline };
  const isSingle = random.chance(SINGLE_SHARE);
  // Where several are lost, it takes as long for nothing.
  const isSeldom = isSingle && random.chance(SELDOM_SHARE);
  return {
    name,
    dialect,
    isInline,
    listing: {
      lateMs: random.chance(LATE_SHARE) ? random.between(1_000, isSeldom ? 15_000 : 6_000) : 0,
      old: random.chance(PAGED_SHARE) ? random.between(101, 250) : 0,
      isOldestFirst: random.chance(0.5),
      faults: Array.from({ length: random.between(0, 6) }, () => random.weighed(LIST_FAULTS)),
      isSingle,
      stranger: random.chance(STRANGER_SHARE) ? random.pick(['alike', 'unlike', 'vague'] as const) : null,
    },
    jobsEveryMs: isSeldom ? 20_000 : 2_500,
  };
}

/** Share of the only lost creates on which no user decides before the list does. */
const UNDECIDED_SHARE = 0.75;

/** Share of the clips that wait in a queue which their users cancel, besides those that are cancelled in every run. */
const CANCELLED_SHARE = 0.5;
/** Share of the chained storyboards of which a shot may fail or be lost. */
const BROKEN_CHAIN_SHARE = 0.3;

/** Returns the orders of a run as its profile wants them. @param misbehaves whether the service does */
export function fitted(
  random: Random,
  { listing, name, isInline }: Profile,
  { orders, misbehaves }: { readonly orders: readonly PlannedOrder[]; readonly misbehaves: boolean },
): readonly PlannedOrder[] {
  if (name === 'none' || !misbehaves) return orders;
  const chained = isInline ? orders.map((order) => asChain(random.fork(`chain ${order.id}`), order)) : orders;
  if (name === 'price') return chained;
  const cancelled = chained.map((order) => withCancel(random.fork(order.id), order));
  return listing === null ? cancelled : withLosses(random, listing, cancelled);
}

/** Chains a storyboard: a shot that fails, or is lost, ends it. */
function asChain(random: Random, order: PlannedOrder): PlannedOrder {
  const { platform, ordered, fate } = order;
  if (platform !== 'playground' || ordered !== 'storyboard') return order;
  const { failsFirst: _failsFirst, ...lasting } = fate;
  return { ...order, isChained: true, fate: random.chance(BROKEN_CHAIN_SHARE) ? fate : withoutLoss(lasting) };
}

/** Adds a press on *Cancel* to a clip that waits in a queue. */
function withCancel(random: Random, order: PlannedOrder): PlannedOrder {
  const { platform, ordered, fate } = order;
  const isQueued = platform === 'playground' && ordered === 'clip' && fate.queued > 0;
  if (!isQueued || !random.chance(CANCELLED_SHARE)) return order;
  const action = random.pick(['cancel', '❌'] as const);
  return { ...order, deeds: [...order.deeds, { when: 'open', action, copies: random.between(1, 3), times: 1 }] };
}

/** Loses the answers to creates as the profile of a service with a list wants it. */
function withLosses(
  random: Random,
  { isSingle, stranger }: Listing,
  orders: readonly PlannedOrder[],
): readonly PlannedOrder[] {
  if (!isSingle) return orders.map((order) => ({ ...order, fate: { ...order.fate, stranger } }));
  const clips = orders.filter(({ platform, ordered }) => platform === 'playground' && ordered === 'clip');
  const lost = clips[random.between(0, clips.length - 1)];
  const isUndecided = random.chance(UNDECIDED_SHARE);
  return orders.map((order) => {
    if (order !== lost) return { ...order, fate: withoutLoss(order.fate) };
    const deeds = isUndecided
      ? order.deeds.filter(({ when, action }) => when !== 'uncertain' && action !== 'cancel' && action !== '❌')
      : order.deeds;
    return { ...order, deeds, fate: drawLoss(random, order.fate, stranger) };
  });
}

/** Returns the wire format of a profile's service. @param variant of our own contract */
export function wireOf({ dialect }: Profile, variant: string): Wire {
  switch (dialect) {
    case 'v1-videos':
      return v1Videos(variant);
    case 'ark':
      return ARK_WIRE;
    case 'fal':
      return FAL_WIRE;
    case 'openrouter':
      return OPENROUTER_WIRE;
    case 'xai':
      return XAI_WIRE;
  }
}

/** Name of a service with a dialect of its own, by which the models of the catalog name it. */
export const SERVICE = 'studio';

/** Fields of a model in the catalog that are other than those of our own contract. */
type Change = Readonly<Record<string, unknown>>;

const FRAMES = { image: { min: 0, max: 1 }, audio: { min: 0, max: 0 }, video: { min: 0, max: 0 } };
const NO_MEDIA = { ...FRAMES, image: { min: 0, max: 0 } };
const TWO_RATIOS = { seconds: [4, 6, 8], aspectRatios: ['16:9', '9:16'] };

/** What three models that take the same options have in common, and the ids of each at the service. */
const MODELS: Readonly<
  Record<Exclude<DialectName, 'v1-videos'>, { readonly common: Change; readonly each: readonly Change[] }>
> = {
  ark: {
    common: { ...TWO_RATIOS, resolutions: ['720p'], media: FRAMES, sound: true },
    each: [
      { id: 'seedance-1-5-pro-251215' },
      { id: 'dreamina-seedance-2-0-260128' },
      { id: 'dreamina-seedance-2-0-fast-260128' },
    ],
  },
  fal: {
    common: { ...TWO_RATIOS, resolutions: [], media: NO_MEDIA },
    each: [
      { id: 'fal-ai/veo3.1', secondsFormat: 'text_s', sound: true },
      { id: 'fal-ai/kling-video/v3/standard/text-to-video', sound: true },
      { id: 'fal-ai/kling-video/v3/turbo/pro/text-to-video' },
    ],
  },
  openrouter: {
    common: { ...TWO_RATIOS, resolutions: ['720p'], media: FRAMES, sound: true },
    each: [{ id: 'google/veo-3.1-lite' }, { id: 'google/veo-3.1-fast' }, { id: 'kwaivgi/kling-v3.0-std' }],
  },
  xai: {
    common: { ...TWO_RATIOS, resolutions: ['720p'], media: FRAMES, sound: true },
    each: [{ id: 'grok-imagine-video-1.5' }, { id: 'grok-imagine-video' }, { id: 'grok-imagine-video-1.5-lite' }],
  },
};

/** Returns what the catalog says otherwise of the model that is the default (0) or one of its rivals; `null`: nothing. */
export function modelChange(dialect: DialectName, place: number): Change | null {
  if (dialect === 'v1-videos') return null;
  const { common, each } = MODELS[dialect];
  return { ...common, ...each[place], service: SERVICE };
}
