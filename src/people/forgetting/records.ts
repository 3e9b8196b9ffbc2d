import { type Subscriptions, setOfCard, withoutVote } from '../../chat/index.ts';
import type { Namespace, Store, StoredRecord, Versioned } from '../../engine/index.ts';
import type { Draft } from '../../pipeline/index.ts';
import { type Person, readTask, type TaskId, withoutPerson } from '../../tasks/index.ts';
import { defaultsKey, policyWithout, type TeamSettings } from '../../teams/index.ts';

/** Person of a team, and the pseudonym that replaces them. */
export interface Forgotten {
  readonly platform: string;
  readonly team: string;
  readonly person: Person;
  readonly pseudonym: Person;
}

type RecordStore = Pick<Store, 'keyv' | 'commit' | 'contents'>;

/** Index of the notices that wait, as in `money/notices.ts`. */
const NOTICES = 'notices';

/**
 * Ends what is not ordered yet or goes on by itself: drafts, defaults, votes, subscriptions, approver role, links, sessions.
 * Idempotent.
 */
export async function endRoles(store: RecordStore, subscriptions: Subscriptions, of: Forgotten): Promise<void> {
  const { platform, team, person } = of;
  const isOf = (one: { readonly platform?: string; readonly team?: string }): boolean =>
    one.platform === platform && one.team === team;
  await deleteWhere(store, 'drafts', (value) => isOf(value) && (value as Partial<Draft>).by?.id === person.id);
  await deleteWhere(store, 'gallery', (value) => isOf(value) && (value as { user?: Person }).user?.id === person.id);
  for await (const page of store.contents.records('comparisons')) {
    for (const { key, value } of page)
      if (isOf(value as { readonly platform?: string }))
        await change(store, 'comparisons', key, (one) => withoutVote(one, person.id));
  }
  const defaults = { namespace: 'defaults', key: defaultsKey({ platform, team, user: person.id }) } as const;
  await store.commit({ records: [{ ...defaults, value: null, expected: 'any' }] });
  await subscriptions.remove(
    platform,
    team,
    ({ by, who }) => by.id === person.id || (who !== 'everyone' && who.id === person.id),
  );
  await change(store, 'approvals', `approvers:${platform}:${team}`, (value) => {
    const { approvers } = value as Versioned & { approvers: readonly { kind: string; id: string }[] };
    const others = approvers.filter(({ kind, id }) => kind !== 'person' || id !== person.id);
    return others.length === approvers.length ? value : { ...value, approvers: others };
  });
}

/** Replaces the person in the settings, budgets, notices, statements and requests for approval of others. Idempotent. */
export async function replaceInRecords(store: RecordStore, of: Forgotten): Promise<void> {
  const { platform, team, person, pseudonym } = of;
  await change(store, 'settings', `${platform}:${team}`, (settings: Partial<TeamSettings>) => {
    const { pause, policy } = settings;
    return {
      ...settings,
      // They wrote the reason.
      ...(pause?.by.id === person.id ? { pause: { ...pause, reason: '', by: pseudonym } } : {}),
      ...(policy === undefined ? {} : { policy: policyWithout(policy, person.id) }),
    };
  });
  await replaceIn(store, 'approvals', of, async ({ key }) => key === `approvers:${platform}:${team}`);
  await replaceIn(
    store,
    'budgets',
    of,
    async ({ key }) => key.split(':').slice(1, 3).join(':') === `${platform}:${team}`,
  );
  await replaceIn(store, 'references', of, async ({ key }) => key === `${platform}:${team}`);
  await replaceIn(store, 'statements', of, async () => true);
  await replaceIn(store, 'deliveries', of, ({ key }) => isAboutTeam(store, of, key.slice(key.lastIndexOf(':') + 1)));
  await dropMessagesTo(store, of);
  await replaceInNotices(store, of);
}

async function isAboutTeam(store: RecordStore, { platform, team }: Forgotten, about: string): Promise<boolean> {
  const id = about as TaskId;
  const task = await readTask(store.keyv('tasks'), setOfCard(id) ?? id).catch(() => undefined);
  return task?.origin.platform === platform && task.origin.team === team;
}

/** Forgets which messages asked the person for approvals: their keys end with the ids of the task and the person. */
async function dropMessagesTo(store: RecordStore, of: Forgotten): Promise<void> {
  const isTheirs = async (key: string): Promise<boolean> => {
    const [, about, who] = /(?:^|:)(?:ask|remind):([^:]+):(.+)$/u.exec(key) ?? [];
    return about !== undefined && who === of.person.id && isAboutTeam(store, of, about);
  };
  for await (const page of store.contents.records('deliveries')) {
    for (const { key, value } of page) {
      if (!Array.isArray(value)) continue;
      const posted: readonly { readonly key?: string }[] = value;
      const areTheirs = await Promise.all(posted.map(async ({ key: notice = '' }) => isTheirs(notice)));
      const others = posted.filter((_one, at) => areTheirs[at] !== true);
      if (others.length < posted.length) await store.keyv('deliveries').set(key, others);
    }
  }
  for await (const page of store.contents.records('adapters')) {
    for (const { key } of page) {
      if (await isTheirs(key)) await store.keyv('adapters').delete(key);
    }
  }
}

/** Replaces the person in notices; one for them that still waits is given up. */
async function replaceInNotices(store: RecordStore, of: Forgotten): Promise<void> {
  const { platform, team, person, pseudonym } = of;
  const theirs = `:person:${platform}:${team}:${person.id}:`;
  for await (const page of store.contents.records('notices')) {
    for (const { key, value } of page) {
      if (`:${key}`.includes(theirs)) await store.keyv('notices').delete(key);
      const notice = value as Partial<Versioned & { of: Forgotten; to: { person?: Person }; state: string }>;
      if (notice.of?.platform !== platform || notice.of.team !== team) continue;
      await change(store, 'notices', key, (current) => withoutPerson(current, person.id, pseudonym));
      if (notice.state !== 'waiting' || notice.to?.person?.id !== person.id) continue;
      await change(store, 'notices', key, (current) => ({ ...current, state: 'undeliverable' }));
      await store.commit({ records: [], index: [{ index: NOTICES, member: key, score: null }] });
    }
  }
}

async function replaceIn(
  store: RecordStore,
  namespace: Namespace,
  { person, pseudonym }: Forgotten,
  isConcerned: (record: StoredRecord) => Promise<boolean>,
): Promise<void> {
  for await (const page of store.contents.records(namespace)) {
    for (const record of page) {
      if (withoutPerson(record.value, person.id, pseudonym) === record.value || !(await isConcerned(record))) continue;
      await change(store, namespace, record.key, (value) => withoutPerson(value, person.id, pseudonym));
    }
  }
}

async function deleteWhere(
  store: RecordStore,
  namespace: Namespace,
  isConcerned: (value: { readonly platform?: string; readonly team?: string }) => boolean,
): Promise<void> {
  for await (const page of store.contents.records(namespace)) {
    for (const { key, value } of page) {
      if (isConcerned(value as { readonly platform?: string })) await store.keyv(namespace).delete(key);
    }
  }
}

/** Changes a record, by compare-and-set where it counts its writes; writes nothing if `edit` returns the same value. */
async function change<Value extends object>(
  store: RecordStore,
  namespace: Namespace,
  key: string,
  edit: (value: Value) => Value,
): Promise<void> {
  for (;;) {
    const value = await store.keyv(namespace).get<Value & Partial<Versioned>>(key);
    if (value === undefined) return;
    const next = edit(value);
    if (next === value) return;
    const { revision } = value;
    const written = revision === undefined ? next : { ...next, revision: revision + 1 };
    if (await store.commit({ records: [{ namespace, key, value: written, expected: revision ?? 'any' }] })) return;
  }
}
