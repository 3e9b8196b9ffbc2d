import { DIALECTS } from '../fakes/dialects.ts';
import { drawDecisions, drawDeletion, drawUserActions, type PlannedDeed } from './deeds.ts';
import { drawFate, drawStudioFate, type Fate, NO_FATE } from './fates.ts';
import { type ChatApprovers, drawMoney, NO_MONEY, type PlannedMoney, USERS } from './money.ts';
import { drawProfile, fitted, type Profile, type ProfileName } from './profiles.ts';
import { createRandom, type Random } from './random.ts';
import { drawOrdered, type Ordered } from './sets.ts';
import { drawBoardActions, drawComparisonActions, drawReviews } from './studio-deeds.ts';

/** Fault kinds by the names that `--faults` takes. */
export const FAULT_KINDS = [
  /** Kills a replica (SIGKILL) and restarts it. */
  'kill',
  /** Pauses a replica (SIGSTOP) and resumes it. */
  'pause',
  /** Stops all replicas (SIGTERM) and starts them, one after the other. */
  'roll',
  /** Makes a replica's wall clock step. */
  'clock',
  /** Makes a replica's disk refuse clips. */
  'disk',
  /** Kills Redis and restarts it with its data. */
  'redis-kill',
  /** Makes Redis refuse writes: out of memory. */
  'redis-full',
  /** Makes Redis refuse writes: it becomes a replica. */
  'redis-readonly',
  /** Makes Redis disconnect all clients. */
  'redis-clients',
  /** Cuts the connection between a replica and Redis. */
  'redis-cut',
  /** Cuts the connection between a replica and the video service. */
  'service-cut',
  /** Makes Discord misbehave; one run in four includes it. */
  'discord',
  /** The same for Slack. */
  'slack',
  /** Attaches a replica of Redis, cuts its link, and attaches it again or gives it up. */
  'replica',
  /** Deletes the message of a task while the task runs or once it has ended. Needs a chat. */
  'delete',
  /** Makes a chat reject the bot's token for a while. */
  'token',
  /** Makes a chat revoke a permission of the bot for a while. */
  'scope',
  /** Sets and changes budgets, thresholds of approval and prices; three runs in four include it. */
  'money',
  /** Users delete clips by `/video delete`, in whatever state they are. */
  'remove',
  /** Makes the service misbehave on its own ({@link Fate}); it may be one that can do more than ours has to. */
  'service',
  /** Makes the service reject every key for a while; one run in four includes it. */
  'key',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** Ways to cut a connection: bytes vanish, connections are reset, new ones are refused as well, everything is late. */
export const CUTS = ['silent', 'reset', 'refuse', 'slow'] as const;
export type Cut = (typeof CUTS)[number];

/** Chats besides the playground. */
const CHATS = ['discord', 'slack'] as const;
export type Chat = (typeof CHATS)[number];

/** Slack's two transports. With HTTP, a load balancer that sees the live replicas calls one after the other. */
const SLACK_MODES = ['socket', 'http'] as const;
export type SlackMode = (typeof SLACK_MODES)[number];

/** Fault that a chat injects: into the next call of a kind, or into its connections. */
export interface Mischief {
  readonly what: string;
  readonly to: string;
}

/** Faults that each chat can inject, and the calls that carry cards, clips and mentions. */
export const MISCHIEF = {
  discord: {
    what: ['drop', 'act and fail', 'fail', 'limit', 'break', 'close', 'invalidate', 'again'],
    to: [
      'POST /channels/:channel/messages',
      'PATCH /channels/:channel/messages/:message',
      'PATCH /webhooks/:application/:token/messages/:message',
      'POST /interactions/:interaction/:token/callback',
    ],
  },
  slack: {
    what: ['drop', 'act and fail', 'fail', 'limit', 'break', 'close', 'refresh', 'again'],
    to: ['chat.postMessage', 'chat.update', 'files.completeUploadExternal', 'files.getUploadURLExternal', 'upload'],
  },
} as const satisfies Readonly<Record<Chat, { what: readonly string[]; to: readonly string[] }>>;

/** Faults of a chat besides its own {@link MISCHIEF}. */
const CHAT_FAULTS = ['delete', 'token', 'scope'] as const;
export type ChatFault = (typeof CHAT_FAULTS)[number];

/** Task message to delete: one that still changes, or one that reports the end. */
export type Deletable = 'running' | 'ended';

/** Fates of the cut-off replica of Redis: it is attached again, or `npm run doctor` waives it. */
const REPLICA_ENDS = ['again', 'waived'] as const;
export type ReplicaEnd = (typeof REPLICA_ENDS)[number];

/** Plan for a replica of Redis. */
export interface PlannedReplica {
  /** Attached before the first process starts. */
  readonly isThereFirst: boolean;
  /** Time that it stays attached before its link is cut. */
  readonly attachedForMs: number;
  readonly end: ReplicaEnd;
}

/** Planned fault. Times are in milliseconds since the run began. */
export interface PlannedFault {
  readonly kind: Exclude<FaultKind, 'service' | 'money' | 'remove'>;
  /** Affected replica; `null` for all. */
  readonly replica: number | null;
  readonly atMs: number;
  readonly forMs: number;
  /** Step of the clock. */
  readonly offsetMs?: number;
  readonly cut?: Cut;
  readonly mischief?: Mischief;
  /** Chat concerned, for {@link ChatFault}s. */
  readonly chat?: Chat;
  readonly deletes?: Deletable;
  readonly redisReplica?: PlannedReplica;
}

/** Interaction that requests a clip. */
export interface PlannedOrder {
  /** Stands in the prompt; in the playground it is also the interaction id. */
  readonly id: string;
  readonly platform: 'playground' | Chat;
  readonly atMs: number;
  readonly user: string;
  readonly channel: string;
  readonly ordered: Ordered;
  /** Number of clips, ordered as a set from two on. */
  readonly takes: number;
  /** Storyboard of which each shot starts with the last frame of the one before. */
  readonly isChained?: true;
  /** Delays after the first delivery at which it is delivered to all again. */
  readonly againAfterMs: readonly number[];
  readonly fate: Fate;
  readonly deeds: readonly PlannedDeed[];
}

/** Options of a run; everything else is drawn. */
export interface PlanOptions {
  readonly seed: number;
  readonly store: 'sqlite' | 'redis';
  readonly replicas: number;
  readonly interactions: number;
  readonly faults: readonly FaultKind[];
  /** Profile of the service. Default: drawn, where the service misbehaves. */
  readonly profile?: ProfileName;
}

/** Everything that is decided before a run begins. The timing still depends on the machine's scheduler. */
export interface Plan extends Omit<PlanOptions, 'profile'> {
  /** All replicas keep their clips in one folder. */
  readonly sharesFolder: boolean;
  readonly service: Profile;
  /** Variant of our own contract that the service speaks, in a run with one. */
  readonly dialect: string;
  /** Transport between Slack and the bot, if Slack takes part. */
  readonly slackBy: SlackMode;
  /** Duration of the phase with faults. */
  readonly lengthMs: number;
  readonly orders: readonly PlannedOrder[];
  readonly schedule: readonly PlannedFault[];
  readonly money: PlannedMoney;
  /** Clips are reviewed in one channel of the playground, and of each chat. */
  readonly hasReviews: boolean;
  /** All replicas are restarted after the faults, not only those that are down. */
  readonly restartsAll: boolean;
}

const LENGTH_MS = 5_000;
/** Share of runs with a pause that outlasts every lease. */
const LONG_PAUSE_SHARE = 1 / 8;
const LONG_PAUSE_MS = 22_000;
const HOUR_MS = 3_600_000;
/** Share of runs in which money is changed. */
const MONEY_SHARE = 3 / 4;
/** Share of runs with reviews. */
const REVIEWS_SHARE = 2 / 3;
/** Share of runs with a chat, drawn for each chat on its own, and its number of orders. */
const CHAT_SHARE = 1 / 4;
const CHAT_ORDERS = 10;
/** Time in which they are sent: half of them after most faults. Share of them that are confirmed where they came late. */
const CHAT_LENGTH_MS = 2 * LENGTH_MS;
const LATE_CONFIRMED_SHARE = 0.7;
/** Share of runs with a chat that get each chat fault; share of runs on Redis that get a replica. */
const CHAT_FAULT_SHARE = 2 / 3;
const REPLICA_SHARE = 1 / 2;

/** Share of runs in which the keys are withdrawn for a while. */
const KEY_SHARE = 1 / 4;
const MAX_KEY_MS = 1_500;

/** First digit of the numbers of a chat's orders. */
const FIRST_OF: Readonly<Record<Chat, number>> = { discord: 9, slack: 8 };

/** Draws the plan of a run from its seed. */
export function drawPlan(options: PlanOptions): Plan {
  const random = createRandom(`chaos ${options.seed}`);
  const named = chatsOf(random, options);
  const money = drawChanges(random.fork('money'), options, named.length > 0);
  const hasReviews = random.fork('reviews').chance(REVIEWS_SHARE);
  const chats = named.map((chat) =>
    drawChat(random.fork(`on ${chat}`), chat, { ...options, hasReviews, approvers: money.chatApprovers }),
  );
  const misbehaves = options.faults.includes('service');
  const { profile = misbehaves ? undefined : 'none' } = options;
  const service = drawProfile(random.fork('profile'), profile);
  const schedule = [
    ...drawSchedule(random.fork('faults'), options),
    ...drawReplica(random.fork('redis replica'), options),
    ...drawKey(random.fork('key'), options),
    ...chats.flatMap((chat) => chat.schedule),
  ];
  const drawn = [
    ...drawOrders(random.fork('orders'), { ...options, hasReviews, where: 'playground' }),
    ...chats.flatMap((chat) => chat.orders),
  ];
  return {
    ...options,
    service,
    // Another machine has neither the clip nor its last frame.
    sharesFolder: options.replicas === 1 || service.isInline || random.fork('folder').chance(0.5),
    dialect: random.fork('dialect').pick(Object.keys(DIALECTS) as [string, ...string[]]),
    slackBy: random.fork('slack by').pick(SLACK_MODES),
    lengthMs: Math.max(LENGTH_MS, ...schedule.map(({ atMs, forMs }) => atMs + forMs)),
    orders: fitted(random.fork('fitted'), service, { orders: drawn, misbehaves }),
    schedule,
    money,
    hasReviews,
    restartsAll: random.fork('end').chance(0.5),
  };
}

function drawChanges(random: Random, { faults }: PlanOptions, hasChats: boolean): PlannedMoney {
  if (!faults.includes('money') || !random.chance(MONEY_SHARE)) return NO_MONEY;
  return drawMoney(random, { lengthMs: LENGTH_MS, hasChats });
}

/** Returns the chats of a run. If only chat faults are requested, both chats take part. */
function chatsOf(random: Random, { faults }: PlanOptions): readonly Chat[] {
  const named = CHATS.filter((chat) => faults.includes(chat));
  if (named.length === 0) return faults.some(isChatFault) ? CHATS : [];
  return named.filter((chat) => random.fork(chat).chance(CHAT_SHARE));
}

function drawOrders(
  random: Random,
  {
    seed,
    interactions,
    faults,
    hasReviews,
    where,
  }: PlanOptions & { readonly hasReviews: boolean; readonly where: 'playground' | 'chat' },
): readonly PlannedOrder[] {
  const misbehaves = faults.includes('service');
  return Array.from({ length: interactions }, (_, place) =>
    drawStudio(random.fork(`studio ${place}`), faults, {
      id: `s${seed}-${String(place).padStart(3, '0')}`,
      platform: 'playground',
      atMs: random.between(0, LENGTH_MS - 1_000),
      user: random.pick(USERS),
      channel: random.pick(['general', 'clips']),
      ...drawOrdered(random.fork(`takes ${place}`), where),
      againAfterMs: random.chance(0.3) ? [random.between(0, 3_000)] : [],
      fate: misbehaves ? drawFate(random, random.fork(`capabilities ${place}`)) : NO_FATE,
      deeds: [
        ...drawUserActions(random),
        ...(faults.includes('remove') ? drawDeletion(random.fork(`deletion ${place}`)) : []),
        ...(hasReviews ? drawReviews(random.fork(`reviews ${place}`)) : []),
      ],
    }),
  );
}

/** Draws what only storyboards and comparisons have; returns any other order as it is. */
function drawStudio(random: Random, faults: PlanOptions['faults'], order: PlannedOrder): PlannedOrder {
  const { ordered, takes } = order;
  if (ordered !== 'comparison' && ordered !== 'storyboard') return order;
  const options = { clips: takes, mayKill: faults.includes('kill') };
  const deeds = ordered === 'comparison' ? drawComparisonActions(random, options) : drawBoardActions(random, options);
  const isRemade = deeds.some(({ action }) => action === 'remake');
  const fate = faults.includes('service') ? drawStudioFate(random, order.fate, isRemade) : order.fate;
  return { ...order, fate, deeds: [...order.deeds, ...deeds] };
}

function drawChat(
  random: Random,
  chat: Chat,
  options: PlanOptions & { readonly hasReviews: boolean; readonly approvers: ChatApprovers | null },
): Pick<Plan, 'orders' | 'schedule'> {
  const orders = drawOrders(random, { ...options, interactions: CHAT_ORDERS, where: 'chat' });
  const schedule = Array.from({ length: random.between(2, 5) }, () => ({
    kind: chat,
    replica: null,
    atMs: random.between(300, LENGTH_MS),
    forMs: 0,
    mischief: { what: random.pick<string>(MISCHIEF[chat].what), to: random.pick<string>(MISCHIEF[chat].to) },
  }));
  const there = orders.map((order, place) => ({
    ...order,
    id: `s${options.seed}-${FIRST_OF[chat]}${String(place).padStart(2, '0')}`,
    platform: chat,
    atMs: random.fork(`at ${place}`).between(0, CHAT_LENGTH_MS),
    againAfterMs: [],
    deeds: [
      ...drawLateConfirmation(random.fork(`late ${place}`), order),
      ...(options.approvers === null ? [] : drawDecisions(random.fork(`decisions ${place}`), options.approvers)),
      // What users do with a set, and reviews; all else is done in the playground.
      ...order.deeds.filter(({ on, action }) => on !== undefined || action === 'order'),
    ],
  }));
  const more = drawChatFaults(random.fork('faults'), chat, options);
  return { orders: there, schedule: options.faults.includes(chat) ? [...schedule, ...more] : more };
}

/** Draws the press on the offer of an order that came late; a storyboard is asked about in any case. */
function drawLateConfirmation(random: Random, { ordered }: PlannedOrder): readonly PlannedDeed[] {
  if (ordered === 'storyboard' || !random.chance(LATE_CONFIRMED_SHARE)) return [];
  return [{ when: 'asked', action: 'order', copies: 1, times: random.between(1, 2) }];
}

function drawChatFaults(random: Random, chat: Chat, { faults }: PlanOptions): readonly PlannedFault[] {
  const wanted = CHAT_FAULTS.filter((kind) => faults.includes(kind));
  return wanted
    .filter(() => random.chance(CHAT_FAULT_SHARE))
    .flatMap((kind) => Array.from({ length: kind === 'delete' ? random.between(1, 3) : 1 }, () => kind))
    .map((kind) => ({
      kind,
      replica: null,
      chat,
      atMs: random.between(300, LENGTH_MS - 1_000),
      ...(kind === 'delete'
        ? { forMs: 0, deletes: random.pick(['running', 'ended'] as const) }
        : { forMs: random.between(500, 4_000) }),
    }));
}

/** Draws one replica at most, since only the loss of the last one is noticed. */
function drawReplica(random: Random, { store, faults }: PlanOptions): readonly PlannedFault[] {
  if (store !== 'redis' || !faults.includes('replica') || !random.chance(REPLICA_SHARE)) return [];
  const isThereFirst = random.chance(0.5);
  const attachedForMs = isThereFirst ? random.between(300, 3_000) : random.between(500, 7_000);
  const cutForMs = random.between(500, 4_000);
  const redisReplica = { isThereFirst, attachedForMs, end: random.pick(REPLICA_ENDS) };
  const atMs = isThereFirst ? 0 : random.between(0, 1_500);
  const cut = random.pick(['silent', 'reset', 'refuse'] as const);
  return [{ kind: 'replica', replica: null, atMs, forMs: attachedForMs + cutForMs, cut, redisReplica }];
}

/** Draws a time in which the keys of the service are withdrawn. */
function drawKey(random: Random, { faults }: PlanOptions): readonly PlannedFault[] {
  if (!faults.includes('key') || !random.chance(KEY_SHARE)) return [];
  const forMs = random.between(300, MAX_KEY_MS);
  return [{ kind: 'key', replica: null, atMs: random.between(300, LENGTH_MS - 1_000), forMs }];
}

function drawSchedule(random: Random, { store, replicas, faults }: PlanOptions): readonly PlannedFault[] {
  const kinds = faults.filter((kind) => !isDrawnApart(kind) && (store === 'redis' || !kind.startsWith('redis')));
  const [first, ...others] = kinds as PlannedFault['kind'][];
  if (first === undefined) return [];
  const drawn = Array.from({ length: random.between(2, 5) }, () =>
    drawFault(random, random.pick([first, ...others]), replicas),
  );
  const long = store === 'redis' && kinds.includes('pause') && random.chance(LONG_PAUSE_SHARE);
  const pauses: PlannedFault[] = long
    ? [{ kind: 'pause', replica: random.between(0, replicas - 1), atMs: 1_500, forMs: LONG_PAUSE_MS }]
    : [];
  return [...drawn, ...pauses].sort((a, b) => a.atMs - b.atMs);
}

function drawFault(random: Random, kind: PlannedFault['kind'], replicas: number): PlannedFault {
  const at = { kind, atMs: random.between(300, LENGTH_MS - 1_000), replica: random.between(0, replicas - 1) };
  switch (kind) {
    case 'kill':
      return { ...at, forMs: random.between(0, 2_000) };
    case 'pause':
      return { ...at, forMs: random.between(300, 4_000) };
    case 'roll':
    case 'redis-clients':
    case 'discord':
    case 'slack':
    case 'delete':
    case 'token':
    case 'scope':
    case 'replica':
    case 'key':
      return { ...at, replica: null, forMs: 0 };
    case 'clock':
      return { ...at, forMs: random.between(500, 4_000), offsetMs: random.pick([-HOUR_MS, HOUR_MS, -3_000, 3_000]) };
    case 'disk':
      return { ...at, forMs: random.between(500, 3_000) };
    case 'redis-kill':
    case 'redis-full':
    case 'redis-readonly':
      return { ...at, replica: null, forMs: random.between(200, 2_500) };
    case 'redis-cut':
    case 'service-cut':
      return { ...at, forMs: random.between(300, 3_000), cut: random.pick(CUTS) };
  }
}

/** Returns whether a fault is drawn separately from those that every run can have. */
function isDrawnApart(kind: FaultKind): boolean {
  return (
    kind === 'service' ||
    kind === 'money' ||
    kind === 'remove' ||
    kind === 'replica' ||
    kind === 'key' ||
    isChatFault(kind) ||
    CHATS.some((chat) => chat === kind)
  );
}

function isChatFault(kind: FaultKind): kind is ChatFault {
  return CHAT_FAULTS.some((fault) => fault === kind);
}
