import { pino } from 'pino';
import { createBot } from '#commands/bot.ts';
import type { Bot, Caller } from '#commands/bot-port.ts';
import type { BotPorts } from '#commands/input/subcommand.ts';
import { NO_SPENDING_RULES, type SpendingRules } from '#commands/orders/spending.ts';
import type { Chat, PlatformFacts } from '#src/chat/chat.ts';
import { comparisonViewOf } from '#src/chat/comparisons/comparison-view.ts';
import { Comparisons } from '#src/chat/comparisons/comparisons.ts';
import type { MemberRights, MissingRight, Place, PlatformLimits } from '#src/chat/platform.ts';
import type { RetractionCount } from '#src/chat/retraction.ts';
import { boardViewOf, replacingViewOf, setOfCard, setViewOf } from '#src/chat/sets/set-view.ts';
import { type Subscription, subscriptionKey } from '#src/chat/subscriptions.ts';
import { type BoardCut, viewOf } from '#src/chat/view.ts';
import type { RemovalOrder } from '#src/clips/remover.ts';
import type { Opener } from '#src/gallery/access.ts';
import type { ApprovalOutcome, ApprovalPress, ApprovalTasks } from '#src/money/approvals.ts';
import { BudgetRepository } from '#src/money/budgets.ts';
import { CarriedSpend } from '#src/money/carried-spend.ts';
import type { NoticeOrder, Notices } from '#src/money/notices.ts';
import {
  type BoardRecord,
  boardOf,
  type InsertionRecord,
  insertionOn,
  isReplaced,
  outdatedIn,
} from '#src/orders/board.ts';
import { cutIdOf } from '#src/orders/cut.ts';
import type { ForgetOrder } from '#src/people/forgetting/forgetting.ts';
import { Drafts } from '#src/pipeline/drafts.ts';
import type { Order } from '#src/pipeline/order.ts';
import type { OverBudget } from '#src/pipeline/over-budget.ts';
import { memberIds, taskIdOf } from '#src/pipeline/task-ids.ts';
import type { Decision } from '#src/pipeline/task-service.ts';
import type { VisibleScope } from '#src/pipeline/visible-history.ts';
import { Serial } from '#src/serial.ts';
import type { CutOrder, CutRequested } from '#src/studio/cuts/cuts.ts';
import { APPROVAL_TTL_MS } from '#src/tasks/approval.ts';
import { boughtState } from '#src/tasks/chain.ts';
import type { LedgerEntry, LedgerScope } from '#src/tasks/ledger.ts';
import type { LimitReached } from '#src/tasks/limits.ts';
import { hasReview } from '#src/tasks/review/review.ts';
import { versionOf } from '#src/tasks/review/versions.ts';
import { isEnded, transition } from '#src/tasks/state-machine.ts';
import { type Audience, hasClip, orderIdOf, type Task, type TaskEvent, type TaskId } from '#src/tasks/task.ts';
import { isVisible } from '#src/tasks/visibility.ts';
import { Approvers } from '#src/teams/approvers.ts';
import { AuditTrail } from '#src/teams/audit/audit.ts';
import { PersonalDefaults } from '#src/teams/personal-defaults.ts';
import { purchaseAt } from '#src/teams/policy/purchase-check.ts';
import { References } from '#src/teams/references.ts';
import { pauseAt, TeamSettingsRepository } from '#src/teams/team-settings.ts';
import type { Catalog } from '#src/videos/model.ts';
import { ManualClock } from './manual-clock.ts';
import { MemoryStore } from './memory-store.ts';
import { FakePlatform } from './platform.ts';
import { errorOf } from './videos.ts';

/** 20 November 2026, noon UTC. */
export const NOON_MS = Date.UTC(2026, 10, 20, 12);

/** The bot on in-memory ports that record their calls. */
export class BotHouse implements BotPorts {
  readonly bot: Bot;
  readonly clock = new ManualClock(NOON_MS);
  readonly logger = pino({ level: 'silent' });
  readonly steering: BotPorts['steering'];
  readonly store = new MemoryStore();
  readonly drafts = new Drafts(this.store, this.clock);
  readonly audit = new AuditTrail(this.store, this.clock);
  readonly settings = new TeamSettingsRepository(this.store, this.audit);
  /** Whether a replica of a version without budgets runs. */
  readonly budgets = new BudgetRepository({
    store: this.store,
    audit: this.audit,
  });
  readonly carried = new CarriedSpend({ store: this.store, clock: this.clock });
  readonly approvers = new Approvers({ store: this.store, audit: this.audit, clock: this.clock });
  /** Members by role or user group; an error for one that cannot be looked up. */
  readonly groups = new Map<string, readonly string[] | Error>();
  /** Presses on **Approve** that were passed on. */
  readonly approved: ApprovalPress[] = [];
  /** Outcome of the next approval. Default: the one of the task. */
  outcome: ApprovalOutcome | null = null;
  readonly approvals: BotPorts['approvals'] = {
    approve: async (tasks, press) => {
      this.approved.push(press);
      if (this.outcome !== null) return this.outcome;
      const done = tasks.map(({ id, price: before }, at) => {
        const price = press.current?.[at] ?? before;
        return this.#apply(id, { kind: 'approve', by: press.by, period: '2026-11', price, atMs: this.clock.now() });
      });
      return { kind: done.every((one) => one.done) ? 'approved' : 'decided', tasks: this.#current(tasks) };
    },
    deny: async (tasks, by, reason) => {
      const event = {
        kind: 'decline',
        how: 'denied',
        by,
        ...(reason === '' ? {} : { reason }),
        atMs: this.clock.now(),
      } as const;
      const done = tasks.map(({ id }) => this.#apply(id, event));
      return { kind: done.every((one) => one.done) ? 'denied' : 'decided', tasks: this.#current(tasks) };
    },
    waiting: async (scope) => {
      const waiting = this.#of(scope).filter(({ state }) => state === 'requested');
      return [...Map.groupBy(waiting, orderIdOf).values()].flatMap(([first, ...others]) =>
        first === undefined ? [] : [[first, ...others] as const],
      );
    },
  };
  /** What is missing to chain shots. */
  frames: BotPorts['frames'] = { missing: () => ['ffmpeg', 'public_url'] };
  readonly records = new Map<TaskId, Task>();
  readonly orders: Order[] = [];
  readonly entries: LedgerEntry[] = [];
  readonly subscribed: Subscription[] = [];
  /** No statements; tests of them replace it. */
  statements: BotPorts['statements'] = {
    list: async () => ({ statements: [], total: 0 }),
    get: async () => undefined,
    discrepancy: async () => undefined,
    decision: async () => undefined,
    nextUndecided: async () => null,
    isBooking: () => false,
    bookMatches: async () => false,
    decide: async () => ({ kind: 'unknown' }),
  };
  /** Removals that were requested. */
  readonly removed: RemovalOrder[] = [];
  /** Outcome of the removal of messages; `null`: left to a later sweep. */
  retraction: RetractionCount | null = { retracted: 1, kept: 0 };
  /** Tasks whose removals were hurried. */
  readonly completed: string[] = [];
  readonly remover: BotPorts['remover'] = {
    complete: async (ids) => void this.completed.push(...ids),
    remove: async ({ id }, { retracted, ...order }) => {
      this.removed.push(order);
      if (this.retraction !== null) retracted?.(this.retraction);
      const { reason, keepsContent = false } = order;
      return this.#decide(id, { kind: 'remove', reason, keepsContent, atMs: this.clock.now() }).done;
    },
  };
  /** People to forget. */
  readonly forgotten: ForgetOrder[] = [];
  readonly forgetting: BotPorts['forgetting'] = {
    request: async (order) => void this.forgotten.push(order),
  };
  readonly reviews: BotPorts['reviews'] = {
    decide: async ({ id }, decision, after) => this.#decide(id, { kind: 'review', after, decision }),
    newer: async (task) =>
      [...this.records.values()]
        .filter((one) => one.version?.root === (task.version?.root ?? task.id))
        .filter((one) => (versionOf(one) ?? 0) > (versionOf(task) ?? 0))
        .toSorted((one, other) => (versionOf(other) ?? 0) - (versionOf(one) ?? 0)),
  };
  readonly defaults = new PersonalDefaults(this.store);
  enhancer: BotPorts['enhancer'] = null;
  readonly references = new References(this.store, this.clock);
  /** Addresses whose files the library keeps. */
  readonly libraryKept = new Set<string>();
  libraryFiles: BotPorts['libraryFiles'] = {
    keep: async (url) => {
      if (!url.startsWith('https://dailies.example/media/relay-')) return 'elsewhere';
      this.libraryKept.add(url);
      return 'kept';
    },
    remove: async (url) => void this.libraryKept.delete(url),
  };
  refunds: BotPorts['refunds'] = 'assumed';
  /** Persons named in `ADMINS`. */
  admins: BotPorts['admins'] = [];
  /** Places of which missing rights were requested. */
  readonly places: Place[] = [];
  /** Limits that rejected an order. */
  readonly overLimit: LimitReached[] = [];
  /** Upstream ids that the service does not recognise. */
  readonly unknown = new Set<string>();
  /** Limit that rejects the next order. */
  limit: LimitReached | null = null;
  /** Budget that rejects the next purchase. */
  over: OverBudget | null = null;
  /** Scopes of the budgets that rejected an order. */
  readonly overBudgets: string[] = [];
  readonly overBudget = (scope: string): void => void this.overBudgets.push(scope);
  refusedAsFull = 0;
  readonly dataFull = (): void => {
    this.refusedAsFull += 1;
  };
  readonly limitReached = (limit: LimitReached): void => void this.overLimit.push(limit);
  /** Thresholds and budgets of the team; its pause is that of its settings. */
  rules: SpendingRules = NO_SPENDING_RULES;
  readonly spendingRules: BotPorts['spendingRules'] = async (_spender, _currency, settings) => ({
    ...this.rules,
    paused: pauseAt(settings, this.clock.now()) ?? undefined,
  });
  /** Links to the gallery that were created; `null` once it has no address. */
  galleryLinks: Opener[] | null = [];
  readonly gallery: BotPorts['gallery'] = {
    isOn: () => this.galleryLinks !== null,
    linkFor: async (opener) => {
      this.galleryLinks?.push(opener);
      if (this.galleryLinks === null) return null;
      return { url: 'https://dailies.example/gallery/open?key=k', expiresAtMs: this.clock.now() + 600_000 };
    },
  };
  renewed: BotPorts['renewed'] = (url) => url;
  checkReferences: BotPorts['checkReferences'] = () => Promise.resolve([]);
  fileBehind: BotPorts['fileBehind'] = async () => null;
  pictures: BotPorts['pictures'] = { forPoster: () => null, forImage: () => null, forRequest: async () => null };
  marksOf: BotPorts['marksOf'] = async () => null;
  lacking: MissingRight | Error | null = null;
  /** Audience by channel. Default: the team, and for tasks without an audience of their own, the channel. */
  readonly audiences = new Map<string, Audience>();
  /** By channel, or by channel and user (`clips:U1`). Default: all rights. */
  readonly memberRights = new Map<string, MemberRights | Error>();
  /** Users who left the team. */
  readonly outsiders = new Set<string>();
  readonly platform: PlatformFacts & { limits: PlatformLimits } = {
    limits: new FakePlatform().limits,
    channels: {
      audience: async () => null,
      lastingAddress: () => ({}),
      rights: async ({ channel }, user) => {
        const found = this.memberRights.get(`${channel}:${user}`) ?? this.memberRights.get(channel);
        if (found instanceof Error) throw found;
        return found ?? { view: true, post: true, manage: true };
      },
      isMember: async (_place, user) => !this.outsiders.has(user),
      isInGroup: async (_place, group, user) => {
        const members = this.groups.get(group) ?? [];
        if (members instanceof Error) throw members;
        return members.includes(user);
      },
      directChannel: async (_place, user) => `direct-${user}`,
      missingRight: async (place) => {
        this.places.push(place);
        if (this.lacking instanceof Error) throw this.lacking;
        return this.lacking;
      },
    },
  };
  #catalog: Catalog;

  constructor(catalog: Catalog, steering: BotPorts['steering'] = []) {
    this.#catalog = catalog;
    this.steering = steering;
    this.bot = createBot(this, (work) => work());
  }

  readonly catalog = (): Catalog => this.#catalog;

  /** Replaces the catalog, as after a reload. */
  replaceCatalog(catalog: Catalog): void {
    this.#catalog = catalog;
  }

  /** Submits an order of the caller and applies `events` to its task. */
  async seed(caller: Caller, text: string, ...events: readonly TaskEvent[]): Promise<Task> {
    const reply = await this.bot.text(caller, text);
    if (reply.kind !== 'task') throw new TypeError(`seeding a task: ${JSON.stringify(reply)}`);
    for (const event of events) this.happen(reply.task, event);
    this.orders.length = 0;
    return this.task(reply.task);
  }

  /** Applies an event to a task. @throws TypeError if the task's state ignores it */
  happen(id: TaskId, event: TaskEvent): void {
    if (!this.#decide(id, event).done) throw new TypeError(`${event.kind} does not count in ${this.task(id).state}`);
  }

  task(id: TaskId): Task {
    const task = this.records.get(id);
    if (task === undefined) throw new TypeError(`there is no task ${id}`);
    return task;
  }

  readonly tasks: BotPorts['tasks'] = {
    submit: async (order, settings) => {
      this.orders.push(order);
      const id = taskIdOf(order.key);
      const existing = this.records.get(id);
      if (existing !== undefined) return { ok: true, task: existing, isNew: false };
      const now = await this.settings.get(order.origin);
      const { paused, forbidden } = purchaseAt(this.clock.now(), order, now);
      if (settings !== undefined && settings.revision !== now.revision)
        return { ok: false, outdated: now, paused, forbidden };
      if (this.limit !== null) return { ok: false, limit: this.limit };
      if (this.over !== null && order.approval === undefined) return { ok: false, over: this.over };
      if (order.isUnasked === true) return { ok: false, isUnasked: true };
      if (paused !== null) return { ok: false, paused };
      const { request, origin, price, retryOf, takeOf, press, approval } = order;
      const counts = { revision: 0, sends: 0, unsentTries: 0, presented: true, createdAtMs: this.clock.now() };
      const retry = { ...(retryOf && { retryOf }), ...(takeOf && { takeOf }), ...(press && { press }) };
      const of = { id, request, origin, price, ...counts, ...retry };
      const task: Task =
        approval === undefined
          ? { ...of, state: 'claimed' }
          : {
              ...of,
              state: 'requested',
              presented: false,
              approval: { ...approval, expiresAtMs: this.clock.now() + APPROVAL_TTL_MS },
            };
      const { set } = order;
      const clips = [order, ...(set?.more ?? [])];
      const count = clips.length;
      const tasks =
        set === undefined
          ? [task]
          : memberIds({ id, of: count }).map((one, at) => ({
              ...task,
              ...(at === 0 ? {} : set.more[at - 1]),
              id: one,
              set: { id, kind: set.kind, at: at + 1, of: count, ...(set.upTo && { upTo: set.upTo }) },
            }));
      for (const one of tasks)
        this.records.set(one.id, one.state === 'claimed' ? { ...one, state: boughtState(one) } : one);
      return { ok: true, task: tasks[0] ?? task, isNew: true };
    },
    get: async (id) => this.records.get(id),
    find: async (scope, id) => {
      const exact = this.#of(scope).find((task) => task.id === id);
      const found = this.#seen(scope).filter((task) => id.length >= 4 && task.id.startsWith(id));
      return exact ?? (found.length === 1 ? found[0] : undefined);
    },
    history: async (scope, { offset, limit }) => this.#seen(scope).slice(offset, offset + limit),
    open: async ({ channel, platform, team, user }, limit) =>
      this.#of({ platform, team, user: channel === undefined ? user : undefined })
        .filter((task) => !isEnded(task) && (channel === undefined || task.origin.channel === channel))
        .slice(0, limit),
    cancel: async (id, by) => this.#decide(id, { kind: 'cancel', by, atMs: this.clock.now() }),
    withdraw: async (id, by) => this.#decide(id, { kind: 'decline', how: 'withdrawn', by, atMs: this.clock.now() }),
    resubmit: async (id, _by, { afterSends, price }, settings) => {
      const task = this.task(id);
      const now = await this.settings.get(task.origin);
      const { origin, request } = task;
      const { paused } = purchaseAt(this.clock.now(), { origin, request, price }, now);
      if (paused !== null) return { done: false, task, paused };
      if (settings !== undefined && settings.revision !== now.revision) return { done: false, task, outdated: true };
      if (this.over !== null) return { done: false, task: this.task(id), over: this.over };
      const purchase = { period: '2026-11', atMs: this.clock.now(), ...price };
      return this.#decide(id, { kind: 'resubmit', afterSends, purchase });
    },
    leave: async (id, by) => this.#decide(id, { kind: 'leave', by }),
    identify: async (id, _by, upstreamId) => {
      if (this.unknown.has(upstreamId)) throw errorOf('task_unknown', { retryable: false });
      return this.#decide(id, { kind: 'identify', upstreamId, how: 'entered', atMs: this.clock.now() });
    },
    want: async (id) => this.#decide(id, { kind: 'want' }),
    refetch: async (id) => this.#decide(id, { kind: 'refetch' }),
  };

  readonly comparisons = new Comparisons({
    store: this.store,
    repository: {
      get: async (id) => this.records.get(id),
      record: async (id, event) => this.#decide(id, event),
    },
    queue: { schedule: () => undefined },
    clock: this.clock,
    refresh: () => undefined,
  });

  readonly chat: Chat = {
    comparisons: this.comparisons,
    setView: async (place) => {
      const [entries, record] = await Promise.all([
        this.comparisons.entries(place),
        this.comparisons.records.get(place.id),
      ]);
      const members = await Promise.all(
        entries.map(async (task) => ({ view: await this.chat.view(task), message: null })),
      );
      const [first] = members;
      if (first === undefined) throw new TypeError('there is no such set');
      if (place.kind === 'storyboard') {
        const board = await this.boards.get(place);
        const inOrder = await Promise.all(
          board.shots.map(async ({ at, chosen, takes, isSkipped }) => {
            const isOther = isReplaced({ takes, chosen });
            const [own = chosen] = isOther ? takes : [chosen];
            const { retryPrice } = await this.chat.view(own);
            const made = await this.chat.view(chosen);
            const view = isOther ? replacingViewOf(made, own) : made;
            const original = { task: own.id, retryPrice };
            const isOutdated = outdatedIn(board).some((one) => one.at === at);
            const shot = {
              at,
              isSkipped,
              isReady: hasClip(chosen),
              isOutdated,
              isRetrying: false,
              original,
              ...(isOther && { isReplaced: true as const }),
            };
            return { view, message: null, shot };
          }),
        );
        return boardViewOf(setViewOf(place, first.view, inOrder), board.revision, this.boardCut);
      }
      const view = setViewOf(place, first.view, members);
      if (place.kind === 'takes') return view;
      return comparisonViewOf(view, { entries, ordered: entries, record, progress: null });
    },
    show: async (id) => messageOf(this.task(id)),
    messageOf: async (id) => ({ ...messageOf(this.task(setOfCard(id) ?? id)), message: `m-${id}` }),
    setOf: async (place) => memberIds(place).flatMap((id) => this.records.get(id) ?? []),
    showSet: async ({ id }) => {
      const isNew = this.goneCards.delete(id);
      if (isNew) this.shownAgain.push(id);
      return isNew;
    },
    updateBoard: async ({ id }) => void this.updatedBoards.push(id),
    taskOf: async (_platform, { message }) =>
      message.startsWith('m-set-')
        ? (message.slice(2) as TaskId)
        : [...this.records.keys()].find((id) => `m-${id}` === message),
    view: async (task) =>
      viewOf(task, {
        nowMs: this.clock.now(),
        progress: null,
        isRunning: true,
        model: this.catalog().models.find(({ name }) => name === task.request.model),
        usual: null,
        deadlineMs: 1_800_000,
        slowestPollMs: 30_000,
        refundKnown: true,
        retrying: null,
        handover: { kind: 'attached' },
        isLabelled: (await this.settings.get(task.origin)).aiLabel,
        review: { isReviewed: hasReview(await this.settings.get(task.origin), task.origin) },
      }),
    audienceAt: async (_platform, { channel }) => this.audiences.get(channel) ?? 'team',
    platform: () => this.platform,
  };

  /** Sets whose card was deleted, and those that were posted again. */
  readonly goneCards = new Set<TaskId>();
  readonly shownAgain: TaskId[] = [];
  /** Cut on the boards. */
  boardCut: BoardCut | undefined;
  /** Sets whose card was shown anew. */
  readonly updatedBoards: TaskId[] = [];
  readonly #boards = new Map<TaskId, BoardRecord>();
  readonly #insertions = new Map<TaskId, InsertionRecord['shots']>();
  readonly boards: BotPorts['boards'] = {
    get: async (place) => {
      const members = memberIds(place).flatMap((id) => this.records.get(id) ?? []);
      const record = this.#boards.get(place.id);
      const chosen = Object.values(record?.chosen ?? {}).map(({ take }) => take);
      const takes = [...this.records.values()].filter(
        ({ id, takeOf, set }) => takeOf?.id === place.id || (chosen.includes(id) && set?.id !== place.id),
      );
      return boardOf(place, record, { members, takes }, this.#insertions.get(place.id));
    },
    change: async ({ place, revision, shots }, { order, skipped, choice }) => {
      const before = this.#boards.get(place.id);
      if ((before?.revision ?? 0) !== revision) return false;
      this.#boards.set(place.id, {
        revision: revision + 1,
        order: order ?? shots.map(({ at }) => at),
        skipped: skipped ?? shots.flatMap(({ at, isSkipped }) => (isSkipped ? [at] : [])),
        chosen: { ...before?.chosen, ...(choice === undefined ? {} : { [choice.at]: choice }) },
      });
      return true;
    },
    // Like compare-and-set, which tries again: one after the other.
    insert: (place, asked) =>
      this.#inserting.run(place.id, async () => {
        const board = await this.boards.get(place);
        const { value, result } = await insertionOn(board, this.#insertions.get(place.id) ?? {}, asked);
        if (value !== undefined) this.#insertions.set(place.id, value.shots);
        return result;
      }),
  };
  readonly #inserting = new Serial<TaskId>();

  /** Notices posted at once, and the outcome of the next ones. */
  readonly posted: NoticeOrder[] = [];
  postOutcome: Awaited<ReturnType<Notices['postNow']>> = 'posted';
  /** Requests to join clips, and the outcome of the next ones. */
  readonly joined: CutOrder[] = [];
  cutRequested: CutRequested | null = null;
  readonly cuts: BotPorts['cuts'] = {
    request: async (order) => {
      this.joined.push(order);
      return this.cutRequested ?? { kind: 'accepted', cut: cutIdOf(order.tasks) };
    },
    show: async (id) => ({ channel: 'clips', message: `m-${id}` }),
    tasksOf: async (id) => this.joined.find(({ tasks }) => cutIdOf(tasks) === id)?.tasks ?? [],
  };

  readonly notices: Pick<Notices, 'postNow'> = {
    postNow: async (order) => {
      this.posted.push(order);
      return this.postOutcome;
    },
  };

  readonly ledger = (scope: LedgerScope, month: string) => this.#month(scope, month);

  /** Reads the entries in pages of five. */
  async *#month({ team, user }: LedgerScope, month: string): AsyncIterable<readonly LedgerEntry[]> {
    const found = this.entries.filter(
      (entry) =>
        entry.team === team &&
        new Date(entry.createdAtMs).toISOString().startsWith(month) &&
        (user === undefined || entry.user === user),
    );
    for (let offset = 0; offset < found.length; offset += 5) yield found.slice(offset, offset + 5);
  }

  readonly subscriptions: BotPorts['subscriptions'] = {
    list: async () => [...this.subscribed],
    add: async (subscription) => {
      const isThere = this.subscribed.some((one) => subscriptionKey(one) === subscriptionKey(subscription));
      if (!isThere) this.subscribed.push(subscription);
      return !isThere;
    },
    remove: async (_platform, _team, isIt) => {
      const removed = this.subscribed.filter(isIt);
      for (const one of removed) this.subscribed.splice(this.subscribed.indexOf(one), 1);
      return removed;
    },
  };

  #seen(scope: VisibleScope): readonly Task[] {
    return this.#of(scope).filter(({ origin }) => isVisible(origin, scope.viewer));
  }

  #of({ platform, team, user }: Pick<VisibleScope, 'platform' | 'team' | 'user'>): readonly Task[] {
    return [...this.records.values()]
      .filter(({ origin }) => origin.platform === platform && origin.team === team)
      .filter(({ origin }) => user === undefined || origin.user.id === user)
      .reverse();
  }

  /** Applies an event; a decision on a requested task of a set is one on all of them, as in the repository. */
  #decide(id: TaskId, event: TaskEvent): Decision {
    const { state, set } = this.task(id);
    const isOnAll = set !== undefined && state === 'requested' && (event.kind === 'decline' || event.kind === 'cancel');
    if (isOnAll) for (const one of memberIds(set)) if (one !== id) this.#apply(one, event);
    return this.#apply(id, event);
  }

  #current([first, ...others]: ApprovalTasks): ApprovalTasks {
    return [this.task(first.id), ...others.map(({ id }) => this.task(id))];
  }

  #apply(id: TaskId, event: TaskEvent): Decision {
    const next = transition(this.task(id), event);
    if (next !== null) this.records.set(id, next);
    return { done: next !== null, task: this.task(id) };
  }
}

function messageOf({ id, origin }: Task) {
  return { channel: origin.channel, message: `m-${id}` };
}

let interactions = 0;

/** Returns Ada in #clips of the team, with a new interaction each time; `changes` turn her into other users. */
export function ada(changes: Partial<Caller> = {}): Caller {
  interactions += 1;
  return {
    platform: 'slack',
    team: 'T1',
    channel: 'clips',
    user: { id: 'U1', name: 'Ada' },
    interaction: `i${interactions}`,
    mayManage: false,
    mayAdminister: false,
    address: { thread: '1' },
    ...changes,
  };
}

/** Returns Bob, in the same team and channel. */
export function bob(changes: Partial<Caller> = {}): Caller {
  return ada({ user: { id: 'U2', name: 'Bob' }, ...changes });
}
