import { hash } from 'node:crypto';
import { asDailiesError } from '../errors.ts';
import { declinedOf, type TaskSet } from '../orders/index.ts';
import { type Approver, isBlind, isContentRemoved, isVisible, sumOf, type Task, typedPrompt } from '../tasks/index.ts';
import { keyOfMember, whoDecides } from '../teams/index.ts';
import type { MessageLock } from './message-lock.ts';
import type { ApprovalNotice } from './notices/views.ts';
import type { ChatParts } from './parts.ts';
import type { MessageRef } from './platform.ts';
import { type Post, type Posted, placesNear } from './posts.ts';
import { setCardId } from './sets/set-view.ts';

type Options = Pick<
  ChatParts,
  'posts' | 'sets' | 'repository' | 'platformOf' | 'modelOf' | 'admins' | 'forApprovers' | 'logger'
>;

/** What approvers are asked about, together: a task, or the tasks of a set, with the id of its card. */
interface Asked extends Pick<Task, 'id' | 'origin' | 'price' | 'request' | 'approval' | 'declined'> {
  /** The task, or of a set the one whose request it shows. */
  readonly shown: Task;
  /** Absent: it is a task of its own. */
  readonly set?: TaskSet;
}

/** What approvers are asked about, with its message. */
interface Request {
  readonly asked: Asked;
  readonly lock: MessageLock;
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
  async send(task: Task, message: MessageRef | null, lock: MessageLock): Promise<void> {
    const asked = await this.#askedOf(task);
    const approval = asked?.approval;
    if (asked === null || approval === undefined) return;
    const request = { asked, message, lock };
    const isReminder = approval.remindedAtMs !== undefined && (await this.#posted(asked)).length > 0;
    // One who cannot be looked up now is told.
    const deciders = await whoDecides(approval.askedOf, (user) => this.#isMember(asked, user).catch(() => true));
    const people = deciders.filter(({ kind }) => kind === 'person');
    const groups = deciders.filter(({ kind }) => kind !== 'person');
    const unreached: Approver[] = [];
    for (const person of people) if (!(await this.#sendDirectly(request, person, isReminder))) unreached.push(person);
    const below = deciders.length === 0 ? await this.#administrators(asked) : [...groups, ...unreached];
    if (below.length > 0 || people.length === 0) await this.#sendBelow(request, below, isReminder);
  }

  /** Returns the members of a request's team who are named in `ADMINS`, without its requester. */
  async #administrators(asked: Asked): Promise<readonly Approver[]> {
    const { platform, user: requester } = asked.origin;
    const named = this.#options.admins.filter((admin) => admin.platform === platform && admin.user !== requester.id);
    const areMembers = await Promise.all(named.map(({ user }) => this.#isMember(asked, user).catch(() => false)));
    return named.filter((_, at) => areMembers[at]).map(({ user }) => ({ kind: 'person', id: user, name: user }));
  }

  #isMember(asked: Asked, user: string): Promise<boolean> {
    const { team, channel, address } = asked.origin;
    return this.#options.platformOf(asked).channels.isMember({ team, channel, address }, user);
  }

  /**
   * Shows the decision in every notice of a request, in place of its buttons; of a set, with its first task.
   * @param lock held for its notices: what they show is recorded, and not shown again. Default: neither.
   */
  async settle(task: Task, lock?: MessageLock): Promise<void> {
    const asked = await this.#askedOf(task);
    if (asked !== null) await this.#settleAsked(asked, lock !== undefined);
  }

  /** As {@link settle}, of a set, whose notices are locked. */
  settleSet(set: TaskSet): Promise<void> {
    return this.#settleAsked(askedOfSet(set), true);
  }

  async #settleAsked(asked: Asked, isRecorded: boolean): Promise<void> {
    const { approval, declined, price } = asked;
    if (approval === undefined) return;
    const decided = { approval, declined: declined ?? null };
    for (const posted of await this.#posted(asked)) {
      const isPromptShown = posted.view.prompt !== null;
      const prompt = isPromptShown ? typedPrompt(asked.request) : null;
      const more = { price, prompt, ...this.#setOf(asked, isPromptShown), isReminder: false };
      const { picture: _picture, ...before } = posted.view;
      const view: ApprovalNotice = { ...before, ...more, decided };
      const shown = hash('sha256', JSON.stringify(view), 'hex');
      await this.#options.posts.edit(asked, posted, { view, shown }, isRecorded);
    }
  }

  /** Returns what a task is asked about with: alone, or its set; `null` for the tasks of a set after the first one. */
  async #askedOf(task: Task): Promise<Asked | null> {
    const { set, ...rest } = task;
    if (set === undefined) return { ...rest, shown: task };
    return set.at === 1 ? askedOfSet(await this.#options.sets.get(set)) : null;
  }

  /** Returns what the notices of a set show of its tasks; nothing for a task of its own. */
  #setOf({ set }: Asked, isPromptShown: boolean): Pick<ApprovalNotice, 'set'> {
    if (set === undefined) return {};
    const { tasks: members, place } = set;
    const left = members.filter((task) => !isContentRemoved(task));
    const isSame = new Set(left.map(({ request }) => JSON.stringify(request))).size <= 1;
    // The order of a comparison's tasks is that of its labels.
    const shown = place.kind === 'comparison' ? members.toSorted(byModel) : members;
    const tasks = shown.map((task) => ({
      model: this.#titleOf(task),
      seconds: task.request.seconds,
      prompt: isPromptShown && !isContentRemoved(task) ? typedPrompt(task.request) : null,
      price: task.price,
    }));
    return { set: { kind: place.kind, of: place.of, tasks: isSame ? [] : tasks } };
  }

  #titleOf({ request: { model } }: Pick<Task, 'request'>): string {
    return this.#options.modelOf(model)?.title ?? model;
  }

  /** Returns a request as it is now, once it is decided. */
  async #decided({ id, set }: Asked): Promise<Asked | null> {
    const task = await this.#options.repository.get(set?.place.id ?? id);
    const isDecided = task?.declined !== undefined || task?.approval?.approved !== undefined;
    return task !== undefined && isDecided ? this.#askedOf(task) : null;
  }

  /** @returns false where the person accepts no direct message, or the platform has none. */
  async #sendDirectly(request: Request, person: Approver, isReminder: boolean): Promise<boolean> {
    const { asked } = request;
    const { team, channel: from, address } = asked.origin;
    const platform = this.#options.platformOf(asked);
    if (!platform.limits.hasDirectMessages) return false;
    const view = await this.#viewOf(request, {
      pings: [],
      isReminder,
      isPromptShown: await this.#maySee(asked, person),
    });
    try {
      const channel = await platform.channels.directChannel({ team, channel: from, address }, person.id);
      await this.#notifyOnce(request, person.id, view, [{ place: { team, channel, address: {} }, replyTo: null }]);
      return true;
    } catch (thrown) {
      const err = asDailiesError(thrown, `notifying an approver of task ${asked.id}`);
      if (err.retryable) throw err;
      this.#options.logger.warn(
        { event: 'approver_unreachable', task: asked.id, err },
        'an approver accepts no direct message; notifying below the task’s message',
      );
      return false;
    }
  }

  async #sendBelow(request: Request, pings: readonly Approver[], isReminder: boolean): Promise<void> {
    const { asked, message } = request;
    const view = await this.#viewOf(request, { pings, isReminder, isPromptShown: true });
    try {
      await this.#notifyOnce(request, '', view, placesNear(asked.origin, message));
    } catch (thrown) {
      const err = asDailiesError(thrown, `notifying the approvers of task ${asked.id}`);
      if (err.code !== 'message_gone') throw err;
      this.#options.logger.warn(
        { event: 'notice_channel_gone', task: asked.id, err },
        'skipped a notice: its channel is gone',
      );
    }
  }

  async #notifyOnce(request: Request, to: string, view: ApprovalNotice, places: Post['places']): Promise<void> {
    const { asked, lock } = request;
    const { platform, team } = asked.origin;
    const person = to === '' ? '' : keyOfMember({ platform, team, user: to });
    const key = `${view.isReminder ? 'remind' : 'ask'}:${asked.id}:${person}`;
    if ((await this.#options.posts.find(asked.id, key)) !== undefined || (await this.#decided(asked)) !== null) return;
    await this.#options.posts.post({ of: asked, lock }, { key, view, mention: null, places });
    // A decision that came before this record did not find the notice.
    const decided = await this.#decided(asked);
    if (decided !== null) await this.#settleAsked(decided, true);
  }

  /** Returns whether an approver may see the prompt, by the requester's consent or as a member of the channel. */
  async #maySee(asked: Asked, { id }: Approver): Promise<boolean> {
    const { origin, approval } = asked;
    if (approval?.isPromptShown === true || isVisible(origin, { user: id, channel: '' })) return true;
    const { team, channel, address } = origin;
    return (await this.#options.platformOf(asked).channels.rights({ team, channel, address }, id)).view;
  }

  async #viewOf(
    { asked, message }: Request,
    { isPromptShown, ...more }: Pick<ApprovalNotice, 'pings' | 'isReminder'> & { readonly isPromptShown: boolean },
  ): Promise<ApprovalNotice> {
    const { id, request, origin, price, approval, shown } = asked;
    const { leftFor, pictureOf } = this.#options.forApprovers;
    return {
      kind: 'approval',
      task: id,
      by: origin.user,
      price,
      model: isBlind(shown) ? '' : this.#titleOf(asked),
      seconds: request.seconds,
      prompt: isPromptShown ? typedPrompt(request) : null,
      picture: isPromptShown ? await pictureOf(shown) : null,
      message: isPromptShown ? message : null,
      left: await leftFor(asked),
      expiresAtMs: approval?.expiresAtMs ?? 0,
      decided: null,
      ...this.#setOf(asked, isPromptShown),
      ...more,
    };
  }

  async #posted({ id }: Asked): Promise<readonly PostedRequest[]> {
    return (await this.#options.posts.of(id)).filter((one): one is PostedRequest => one.view !== undefined);
  }
}

/** Returns what approvers are asked about a set: its tasks together. */
function askedOfSet(set: TaskSet): Asked {
  const { place, origin, shown, tasks } = set;
  const { request, approval } = shown;
  const declined = declinedOf(tasks);
  return {
    id: setCardId(place.id),
    origin,
    price: sumOf(tasks.map((task) => task.price)) ?? shown.price,
    request,
    shown,
    set,
    ...(approval === undefined ? {} : { approval }),
    ...(declined === null ? {} : { declined }),
  };
}

function byModel({ request: one }: Task, { request: other }: Task): number {
  return one.model < other.model ? -1 : 1;
}
