import { hash } from 'node:crypto';
import { asDailiesError } from '../errors.ts';
import { type Approver, isBlind, isContentRemoved, isVisible, type Task, typedPrompt } from '../tasks/index.ts';
import { keyOfMember, whoDecides } from '../teams/index.ts';
import type { MessageLock } from './message-lock.ts';
import type { ApprovalNotice } from './notices/views.ts';
import type { ChatParts } from './parts.ts';
import type { MessageRef } from './platform.ts';
import { type About, type Post, type Posted, placesNear } from './posts.ts';
import { setOfCard } from './sets/set-view.ts';

type Options = Pick<ChatParts, 'posts' | 'sets' | 'platformOf' | 'modelOf' | 'admins' | 'leftFor' | 'logger'>;

/** Task with its message. */
interface Request extends About {
  /** `null` once it is deleted. */
  readonly message: MessageRef | null;
}

/** Posted notice of a request. */
type PostedRequest = Posted & Required<Pick<Posted, 'view'>>;

/**
 * Notices to the approvers of a requested task, with the buttons of their decision. People get a direct message. Groups,
 * administrators, and people who accept none are notified below the task's message.
 */
export class ApprovalNotices {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Notifies the approvers, each once, and once more for the reminder; of a set, with its first task. Rejects while one
   * is not notified yet.
   */
  async send(given: Task, message: MessageRef | null, lock: MessageLock): Promise<void> {
    const task = await this.#requestOf(given);
    const approval = task?.approval;
    if (task === null || approval === undefined) return;
    const request = { task, message, lock };
    const isReminder = approval.remindedAtMs !== undefined && (await this.#posted(task)).length > 0;
    // One who cannot be looked up now is told.
    const deciders = await whoDecides(approval.askedOf, (user) => this.#isMember(task, user).catch(() => true));
    const people = deciders.filter(({ kind }) => kind === 'person');
    const groups = deciders.filter(({ kind }) => kind !== 'person');
    const unreached: Approver[] = [];
    for (const person of people) if (!(await this.#sendDirectly(request, person, isReminder))) unreached.push(person);
    const below = deciders.length === 0 ? await this.#administrators(task) : [...groups, ...unreached];
    if (below.length > 0 || people.length === 0) await this.#sendBelow(request, below, isReminder);
  }

  /** Returns the members of a task's team who are named in `ADMINS`, without its requester. */
  async #administrators(task: Task): Promise<readonly Approver[]> {
    const { platform, user: requester } = task.origin;
    const named = this.#options.admins.filter((admin) => admin.platform === platform && admin.user !== requester.id);
    const areMembers = await Promise.all(named.map(({ user }) => this.#isMember(task, user).catch(() => false)));
    return named.filter((_, at) => areMembers[at]).map(({ user }) => ({ kind: 'person', id: user, name: user }));
  }

  #isMember(task: Task, user: string): Promise<boolean> {
    const { team, channel, address } = task.origin;
    return this.#options.platformOf(task).isMember({ team, channel, address }, user);
  }

  /**
   * Shows the decision in every notice of a request, in place of its buttons; of a set, with its first task.
   * @param lock held for its notices: what they show is recorded, and not shown again. Default: neither.
   */
  async settle(given: Task, lock?: MessageLock): Promise<void> {
    const task = await this.#requestOf(given);
    if (task !== null) await this.settleOwn(task, lock !== undefined);
  }

  /** As {@link settle}, of a task that is none of a set, or the stand-in of a set's card. */
  async settleOwn(task: Task, isRecorded: boolean): Promise<void> {
    const { approval, declined } = task;
    if (approval === undefined) return;
    const decided = { approval, declined: declined ?? null };
    for (const posted of await this.#posted(task)) {
      const isPromptShown = posted.view.prompt !== null;
      const prompt = isPromptShown ? typedPrompt(task.request) : null;
      const more = { price: task.price, prompt, ...(await this.#setOf(task, isPromptShown)), isReminder: false };
      const view: ApprovalNotice = { ...posted.view, ...more, decided };
      const shown = hash('sha256', JSON.stringify(view), 'hex');
      await this.#options.posts.edit(task, posted, { view, shown }, isRecorded);
    }
  }

  /** Returns the task of a request; for a set the stand-in of its card, and `null` for its tasks after the first one. */
  async #requestOf(task: Task): Promise<Task | null> {
    if (task.set === undefined || setOfCard(task.id) !== null) return task;
    return task.set.at === 1 ? this.#options.sets.cardOf(task.set) : null;
  }

  /** Returns what the notices of a set show of its tasks; nothing for a task of its own. */
  async #setOf({ set }: Task, isPromptShown: boolean): Promise<Pick<ApprovalNotice, 'set'>> {
    if (set === undefined) return {};
    const members = await this.#options.sets.members(set);
    const left = members.filter((task) => !isContentRemoved(task));
    const isSame = new Set(left.map(({ request }) => JSON.stringify(request))).size <= 1;
    // The order of a comparison's tasks is that of its labels.
    const shown = set.kind === 'comparison' ? members.toSorted(byModel) : members;
    const tasks = shown.map((task) => ({
      model: this.#titleOf(task),
      seconds: task.request.seconds,
      prompt: isPromptShown && !isContentRemoved(task) ? typedPrompt(task.request) : null,
      price: task.price,
    }));
    return { set: { kind: set.kind, of: set.of, tasks: isSame ? [] : tasks } };
  }

  #titleOf({ request: { model } }: Task): string {
    return this.#options.modelOf(model)?.title ?? model;
  }

  /** Returns a request as it is now, once it is decided. */
  async #decided({ id }: Task): Promise<Task | null> {
    const task = await this.#options.sets.get(id);
    return task?.declined !== undefined || task?.approval?.approved !== undefined ? task : null;
  }

  /** @returns false where the person accepts no direct message, or the platform has none. */
  async #sendDirectly(request: Request, person: Approver, isReminder: boolean): Promise<boolean> {
    const { task } = request;
    const { team, address } = task.origin;
    const platform = this.#options.platformOf(task);
    if (!platform.limits.hasDirectMessages) return false;
    const view = await this.#viewOf(request, {
      pings: [],
      isReminder,
      isPromptShown: await this.#maySee(task, person),
    });
    try {
      const channel = await platform.directChannel({ team, channel: task.origin.channel, address }, person.id);
      await this.#notifyOnce(request, person.id, view, [{ place: { team, channel, address: {} }, replyTo: null }]);
      return true;
    } catch (thrown) {
      const err = asDailiesError(thrown, `notifying an approver of task ${task.id}`);
      if (err.retryable) throw err;
      this.#options.logger.warn(
        { event: 'approver_unreachable', task: task.id, err },
        'an approver accepts no direct message; notifying below the task’s message',
      );
      return false;
    }
  }

  async #sendBelow(request: Request, pings: readonly Approver[], isReminder: boolean): Promise<void> {
    const { task, message } = request;
    const view = await this.#viewOf(request, { pings, isReminder, isPromptShown: true });
    try {
      await this.#notifyOnce(request, '', view, placesNear(task.origin, message));
    } catch (thrown) {
      const err = asDailiesError(thrown, `notifying the approvers of task ${task.id}`);
      if (err.code !== 'message_gone') throw err;
      this.#options.logger.warn(
        { event: 'notice_channel_gone', task: task.id, err },
        'skipped a notice: its channel is gone',
      );
    }
  }

  async #notifyOnce(request: Request, to: string, view: ApprovalNotice, places: Post['places']): Promise<void> {
    const { task } = request;
    const { platform, team } = task.origin;
    const asked = to === '' ? '' : keyOfMember({ platform, team, user: to });
    const key = `${view.isReminder ? 'remind' : 'ask'}:${task.id}:${asked}`;
    if ((await this.#options.posts.find(task.id, key)) !== undefined || (await this.#decided(task)) !== null) return;
    await this.#options.posts.post(request, { key, view, mention: null, places });
    // A decision that came before this record did not find the notice.
    const decided = await this.#decided(task);
    if (decided !== null) await this.settleOwn(decided, true);
  }

  /** Returns whether an approver may see the prompt, by the requester's consent or as a member of the channel. */
  async #maySee(task: Task, { id }: Approver): Promise<boolean> {
    const { origin, approval } = task;
    if (approval?.isPromptShown === true || isVisible(origin, { user: id, channel: '' })) return true;
    const { team, channel, address } = origin;
    return (await this.#options.platformOf(task).rights({ team, channel, address }, id)).view;
  }

  async #viewOf(
    { task, message }: Request,
    { isPromptShown, ...more }: Pick<ApprovalNotice, 'pings' | 'isReminder'> & { readonly isPromptShown: boolean },
  ): Promise<ApprovalNotice> {
    const { id, request, origin, price, approval } = task;
    return {
      kind: 'approval',
      task: id,
      by: origin.user,
      price,
      model: isBlind(task) ? '' : this.#titleOf(task),
      seconds: request.seconds,
      prompt: isPromptShown ? typedPrompt(request) : null,
      message: isPromptShown ? message : null,
      left: await this.#options.leftFor(task),
      expiresAtMs: approval?.expiresAtMs ?? 0,
      decided: null,
      ...(await this.#setOf(task, isPromptShown)),
      ...more,
    };
  }

  async #posted({ id }: Task): Promise<readonly PostedRequest[]> {
    return (await this.#options.posts.of(id)).filter((one): one is PostedRequest => one.view !== undefined);
  }
}

function byModel({ request: one }: Task, { request: other }: Task): number {
  return one.model < other.model ? -1 : 1;
}
