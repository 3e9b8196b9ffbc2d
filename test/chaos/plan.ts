import { DIALECTS } from '../fakes/dialects.ts';
import { drawFate, type Fate, NO_FATE } from './fates.ts';
import { createRandom, type Random } from './random.ts';

/** Everything that can be made to go wrong, by the names that `--faults` takes. */
export const FAULT_KINDS = [
  /** A replica is killed (SIGKILL) and started again. */
  'kill',
  /** A replica is stopped (SIGSTOP) and goes on. */
  'pause',
  /** All replicas are stopped (SIGTERM) and started, one after the other. */
  'roll',
  /** A replica's time of day steps. */
  'clock',
  /** A replica's disk takes no more clips. */
  'disk',
  /** Redis is killed and comes back with its data. */
  'redis-kill',
  /** Redis takes no more: out of memory. */
  'redis-full',
  /** Redis takes no more: it is a replica. */
  'redis-readonly',
  /** Redis throws everybody out. */
  'redis-clients',
  /** The way from a replica to Redis is cut. */
  'redis-cut',
  /** The way from a replica to the video service is cut. */
  'service-cut',
  /** Discord misbehaves; in one run of four, it is there. */
  'discord',
  /** Slack likewise. */
  'slack',
  /** A replica of Redis is attached, its link is cut, and it is attached again or given up. */
  'replica',
  /** Somebody deletes the message of a task, while the task runs or once it has ended. Needs a chat. */
  'delete',
  /** A chat refuses the bot's token for a while. */
  'token',
  /** A chat takes a right away from the bot for a while. */
  'scope',
  /** The service misbehaves by itself ({@link Fate}). */
  'service',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** How a way is cut: bytes vanish, connections break, new ones are refused as well, everything is late. */
export const CUTS = ['silent', 'reset', 'refuse', 'slow'] as const;
export type Cut = (typeof CUTS)[number];

/** The chats beside the playground. */
const CHATS = ['discord', 'slack'] as const;
export type Chat = (typeof CHATS)[number];

/** Slack's two ways to an app. By HTTP, a load balancer that knows who is up asks one replica after the other. */
const SLACK_MODES = ['socket', 'http'] as const;
export type SlackMode = (typeof SLACK_MODES)[number];

/** What a chat does on its bad days: to the next call of a kind, or to its connections. */
export interface Mischief {
  readonly what: string;
  readonly to: string;
}

/** What each chat may do to us, and where cards, clips and mentions go. */
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

/** What happens to a chat, beside its own {@link MISCHIEF}. */
const CHAT_FAULTS = ['delete', 'token', 'scope'] as const;
export type ChatFault = (typeof CHAT_FAULTS)[number];

/** Which message of a task is deleted: one that still changes, or one that tells of the end. */
export type Deletable = 'running' | 'ended';

/** How the replica of Redis that was cut off comes to its end: it is back, or `npm run doctor` waives it. */
const REPLICA_ENDS = ['again', 'waived'] as const;
export type ReplicaEnd = (typeof REPLICA_ENDS)[number];

/** What becomes of a replica of Redis. */
export interface PlannedReplica {
  /** Whether it is there before the first process starts. */
  readonly isThereFirst: boolean;
  /** How long it stays attached before its link is cut. */
  readonly attachedForMs: number;
  readonly end: ReplicaEnd;
}

/** Something that goes wrong at a time. Times are in milliseconds since the beginning of the run. */
export interface PlannedFault {
  readonly kind: Exclude<FaultKind, 'service'>;
  /** Whose; `null` where it is everybody's. */
  readonly replica: number | null;
  readonly atMs: number;
  readonly forMs: number;
  /** How far the clock steps. */
  readonly offsetMs?: number;
  readonly cut?: Cut;
  readonly mischief?: Mischief;
  /** Of {@link ChatFault}s: where. */
  readonly chat?: Chat;
  readonly deletes?: Deletable;
  readonly redisReplica?: PlannedReplica;
}

/** What a person does about a task once its message says `when`. */
export interface PlannedDeed {
  readonly when: 'open' | 'uncertain' | 'ended';
  readonly action: 'cancel' | 'retry' | 'again' | 'lookup' | 'leave' | '🔁' | '❌';
  /** At how many replicas the same press arrives. */
  readonly copies: number;
  /** How many times it is pressed. */
  readonly times: number;
}

/** One interaction that asks for a clip. */
export interface PlannedOrder {
  /** Stands in the prompt; in the playground it is the interaction's id, too. */
  readonly id: string;
  readonly platform: 'playground' | Chat;
  readonly atMs: number;
  readonly user: string;
  readonly channel: string;
  /** When it is delivered once more to all, after the first time. */
  readonly againAfterMs: readonly number[];
  readonly fate: Fate;
  readonly deeds: readonly PlannedDeed[];
}

/** What is asked of a run; the rest is drawn. */
export interface PlanOptions {
  readonly seed: number;
  readonly store: 'sqlite' | 'redis';
  readonly replicas: number;
  readonly interactions: number;
  readonly faults: readonly FaultKind[];
}

/** Everything that is decided before a run begins. What the machine's scheduler makes of it is another matter. */
export interface Plan extends PlanOptions {
  /** Whether all replicas keep their clips in one folder. */
  readonly sharesFolder: boolean;
  readonly dialect: string;
  /** How Slack reaches the bot, where it is there. */
  readonly slackBy: SlackMode;
  /** How long things go wrong. */
  readonly lengthMs: number;
  readonly orders: readonly PlannedOrder[];
  readonly schedule: readonly PlannedFault[];
  /** Whether every replica is started anew when it is over, or only those that are down. */
  readonly restartsAll: boolean;
}

const LENGTH_MS = 5_000;
/** One run in so many has a pause that outlasts every lease. */
const LONG_PAUSE_SHARE = 1 / 8;
const LONG_PAUSE_MS = 22_000;
const HOUR_MS = 3_600_000;
/** One run in so many has a chat, each by itself; and what is asked for there. */
const CHAT_SHARE = 1 / 4;
const CHAT_ORDERS = 10;
/** Of the runs with a chat, so many have each of what may happen to it; of those on Redis, so many a replica. */
const CHAT_FAULT_SHARE = 2 / 3;
const REPLICA_SHARE = 1 / 2;

/** What the numbers of a chat's orders begin with. */
const FIRST_OF: Readonly<Record<Chat, number>> = { discord: 9, slack: 8 };

/** Draws a run from its seed. */
export function drawPlan(options: PlanOptions): Plan {
  const random = createRandom(`chaos ${options.seed}`);
  const chats = chatsOf(random, options).map((chat) => drawChat(random.fork(`on ${chat}`), chat, options));
  const schedule = [
    ...drawSchedule(random.fork('faults'), options),
    ...drawReplica(random.fork('redis replica'), options),
    ...chats.flatMap((chat) => chat.schedule),
  ];
  return {
    ...options,
    sharesFolder: options.replicas === 1 || random.fork('folder').chance(0.5),
    dialect: random.fork('dialect').pick(Object.keys(DIALECTS) as [string, ...string[]]),
    slackBy: random.fork('slack by').pick(SLACK_MODES),
    lengthMs: Math.max(LENGTH_MS, ...schedule.map(({ atMs, forMs }) => atMs + forMs)),
    orders: [...drawOrders(random.fork('orders'), options), ...chats.flatMap((chat) => chat.orders)],
    schedule,
    restartsAll: random.fork('end').chance(0.5),
  };
}

/** The chats of a run. Where only what happens to chats is asked for, both are there. */
function chatsOf(random: Random, { faults }: PlanOptions): readonly Chat[] {
  const named = CHATS.filter((chat) => faults.includes(chat));
  if (named.length === 0) return faults.some(isChatFault) ? CHATS : [];
  return named.filter((chat) => random.fork(chat).chance(CHAT_SHARE));
}

function drawOrders(random: Random, { seed, interactions, faults }: PlanOptions): readonly PlannedOrder[] {
  const misbehaves = faults.includes('service');
  return Array.from({ length: interactions }, (_, place) => ({
    id: `s${seed}-${String(place).padStart(3, '0')}`,
    platform: 'playground',
    atMs: random.between(0, LENGTH_MS - 1_000),
    user: random.pick(['ana', 'ben', 'eva']),
    channel: random.pick(['general', 'clips']),
    againAfterMs: random.chance(0.3) ? [random.between(0, 3_000)] : [],
    fate: misbehaves ? drawFate(random) : NO_FATE,
    deeds: drawDeeds(random),
  }));
}

function drawChat(random: Random, chat: Chat, options: PlanOptions): Pick<Plan, 'orders' | 'schedule'> {
  const orders = drawOrders(random, { ...options, interactions: CHAT_ORDERS });
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
    againAfterMs: [],
    deeds: [],
  }));
  const more = drawChatFaults(random.fork('faults'), chat, options);
  return { orders: there, schedule: options.faults.includes(chat) ? [...schedule, ...more] : more };
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

/** At most one, since only the last one that goes is missed. */
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

function drawDeeds(random: Random): readonly PlannedDeed[] {
  const deed = (when: PlannedDeed['when'], action: PlannedDeed['action']): PlannedDeed => ({
    when,
    action,
    copies: random.between(1, 3),
    times: random.between(1, 2),
  });
  return [
    ...(random.chance(0.12) ? [deed('open', random.pick(['cancel', '❌']))] : []),
    ...(random.chance(0.15) ? [deed('ended', random.pick(['retry', '🔁']))] : []),
    ...(random.chance(0.6) ? [deed('uncertain', random.pick(['again', 'lookup', 'leave']))] : []),
  ];
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

/** Whether it is not drawn among those that every run can have. */
function isDrawnApart(kind: FaultKind): boolean {
  return kind === 'service' || kind === 'replica' || isChatFault(kind) || CHATS.some((chat) => chat === kind);
}

function isChatFault(kind: FaultKind): kind is ChatFault {
  return CHAT_FAULTS.some((fault) => fault === kind);
}
