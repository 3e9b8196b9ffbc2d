import { pino } from 'pino';
import { expect } from 'vitest';
import { Remover } from '#src/clips/remover.ts';
import { createMoney, type Money } from '#src/money/money.ts';
import { Forgetting } from '#src/people/forgetting/forgetting.ts';
import { Drafts } from '#src/pipeline/drafts.ts';
import type { Cuts } from '#src/studio/cuts/cuts.ts';
import { FORGETTINGS } from '#src/tasks/indexes.ts';
import type { Person, TaskId } from '#src/tasks/task.ts';
import { PersonalDefaults } from '#src/teams/personal-defaults.ts';
import { ChatHouse } from './chat-house.ts';
import { runJob } from './jobs.ts';
import { NO_CUTS } from './no-cuts.ts';
import { BOB, EVENTS, newTask, originOf, requestedTask } from './tasks.ts';

/** Team of {@link livedIn}. */
export const TEAM = { platform: 'fake', team: 'T1' };
/** A person whose id and name occur nowhere by chance. */
export const EVE: Person = { id: 'U7EVE7', name: 'Evelyn Searchable' };
/** What must not be left of her. */
export const TRACES = /U7EVE7|Searchable|secret fox/;
/** Returns the actor of an administrative change. */
export const actor = (person: Person) => ({ person, surface: 'button' as const });

/** What forgets people, on a house whose chat is fake. */
export interface ForgettingHouse {
  readonly house: ChatHouse;
  readonly money: Money;
  readonly remover: Remover;
  readonly forgetting: Forgetting;
  /** Addresses of the references that were deleted. */
  readonly references: string[];
}

/** Returns the parts of one process. @param cuts default: none */
export function partsOf(house: ChatHouse, cuts: Pick<Cuts, 'removeWith' | 'forget'> = NO_CUTS): ForgettingHouse {
  const { store, repository, clock, chat, platform } = house;
  const logger = pino({ level: 'silent' });
  const money = createMoney({ store, clock });
  const clips = { list: async () => new Map(), remove: async () => undefined };
  const remover = new Remover({
    cuts,
    store,
    repository,
    clips,
    messages: chat.retraction,
    audit: money.audit,
    clock,
    logger,
  });
  const references: string[] = [];
  const relay = { remove: async (url: string) => void references.push(url) };
  const platforms = new Map([[platform.name, platform]]);
  const options = {
    cuts,
    ...money,
    store,
    repository,
    remover,
    relay,
    platforms,
    clock,
    logger,
  };
  return { house, money, remover, forgetting: new Forgetting(options), references };
}

/** Origin of what she orders. */
export const origin = originOf({ user: EVE, audience: 'team' });
/** What she orders. */
export const request = {
  ...newTask().request,
  prompt: 'a secret fox',
  media: { image: ['https://dailies.example/media/relay-1'], audio: [], video: [] },
};

/** A team in which Eve did all that she can do. */
export async function livedIn(house = new ChatHouse(), cuts?: Parameters<typeof partsOf>[1]): Promise<ForgettingHouse> {
  const parts = partsOf(house, cuts);
  const { money } = parts;
  const { store } = house;
  await house.subscriptions.add({ ...TEAM, channel: 'other', who: EVE, by: BOB });
  await house.subscriptions.add({ ...TEAM, channel: 'more', who: 'everyone', by: EVE });
  await house.subscriptions.add({ ...TEAM, channel: 'his', who: 'everyone', by: BOB });
  await money.approvers.add(TEAM, actor(BOB), { kind: 'person', ...EVE });
  await money.approvers.add(TEAM, actor(EVE), { kind: 'person', id: 'carol', name: 'Carol' });
  const pause = { reason: 'Searchable said so', by: EVE, atMs: house.clock.now() };
  const create = [{ kind: 'person', ...EVE } as const];
  const policy = { team: { create, words: ['gore'] }, channels: { other: { decide: create } } };
  await money.settings.change(TEAM, actor(EVE), { pause, policy });
  const scope = { kind: 'person', ...TEAM, person: EVE } as const;
  await money.budgets.change(scope, actor(BOB), { part: 'hard', currency: 'USD', amount: 1_000_000n });
  await money.budgets.change({ kind: 'team', ...TEAM }, actor(EVE), {
    part: 'hard',
    currency: 'USD',
    amount: 9_000_000n,
  });
  await new PersonalDefaults(store).change({ ...TEAM, user: EVE.id }, { seconds: 6 });
  await new Drafts(store, house.clock).save({
    ...TEAM,
    id: 'draft' as TaskId,
    key: 'fake:draft',
    channel: 'clips',
    by: EVE,
    request: { prompt: 'a secret fox, not ordered', image: ['https://dailies.example/media/relay-2'] },
  });
  await house.done({ id: 'done' as TaskId, origin, request });
  await house.task({ id: 'failed' as TaskId, origin, request }, EVENTS.send, EVENTS.accepted, EVENTS.failed);
  await house.task({ id: 'doubt' as TaskId, origin, request }, EVENTS.send, EVENTS.lost);
  const asked = requestedTask({ id: 'asked' as TaskId, origin, request });
  await house.task({ ...asked, createdAtMs: house.clock.now() });
  // Bob's, which Eve was asked to approve, and approved.
  const askedOf = [{ kind: 'person', ...EVE } as const];
  const his = requestedTask({ id: 'his' as TaskId, origin: originOf({ user: BOB, audience: 'team' }) });
  await house.task({ ...his, ...(his.approval && { approval: { ...his.approval, askedOf } }) });
  await house.happen('his' as TaskId, { ...EVENTS.approve, by: EVE }, EVENTS.send, EVENTS.accepted);
  await house.happen('his' as TaskId, EVENTS.completed, EVENTS.fetched);
  // She reviewed it, too.
  const note = { text: 'more of the secret fox' };
  const decision = { kind: 'changes_requested', by: EVE, atMs: house.clock.now(), note } as const;
  await house.happen('his' as TaskId, { kind: 'review', after: 0, decision });
  await house.pass(0);
  return parts;
}

/** Lets the bot run until everyone is forgotten. */
export async function finish({ house, remover, forgetting }: ForgettingHouse): Promise<void> {
  for (let round = 0; round < 12 && (await house.store.count(FORGETTINGS)) > 0; round += 1) {
    house.clock.step(31_000);
    await house.pass(0);
    await runJob(remover.job, house);
    await runJob(forgetting.job, house);
    await house.pass(0);
  }
  expect(await house.store.count(FORGETTINGS)).toBe(0);
}
