import { z } from 'zod';
import { checked, json } from './form.ts';
import type { Call, Method } from './methods.ts';
import { demandPictures } from './posting.ts';
import type { View } from './records.ts';
import { Refusal } from './refusal.ts';
import { applyView, checkedView, openView } from './viewing.ts';
import { viewJson } from './wire.ts';
import type { World } from './world.ts';

const openForm = z.looseObject({ trigger_id: z.string().min(1), view: json(z.unknown()) });
const updateForm = z.looseObject({
  view_id: z.string().optional(),
  external_id: z.string().optional(),
  hash: z.string().optional(),
  view: json(z.unknown()),
});
const publishForm = z.looseObject({ user_id: z.string().min(1), hash: z.string().optional(), view: json(z.unknown()) });

/**
 * Exchanges a trigger: "expires in three seconds", interactivity/handling-user-interaction.
 * @throws Refusal invalid_trigger_id, exchanged_trigger_id, expired_trigger_id
 * @see docs.slack.dev/reference/methods/views.open
 */
function exchange({ world, team, method }: Call, triggerId: string): { userId: string; viewId: string | null } {
  const trigger = world.triggers.get(triggerId);
  if (trigger?.teamId !== team.id)
    throw new Refusal('invalid_trigger_id', { violation: `${method} with a made-up trigger_id` });
  if (trigger.isUsed) throw new Refusal('exchanged_trigger_id', { violation: `${method}: trigger_id used twice` });
  if (trigger.isEnded) throw new Refusal('expired_trigger_id');
  const ageMs = world.clock.now() - trigger.atMs;
  if (ageMs > world.shortlyMs) {
    throw new Refusal('expired_trigger_id', { violation: `${method}: trigger_id used after ${ageMs} ms` });
  }
  trigger.isUsed = true;
  return trigger;
}

/** External ids are unique in a workspace. @throws Refusal duplicate_external_id */
function demandFresh({ world, team }: Call, form: { readonly external_id?: string | undefined }, self?: View): void {
  const { external_id: externalId = '' } = form;
  const twin = world.views
    .values()
    .find((one) => one.isOpen && one.teamId === team.id && one.externalId === externalId);
  if (externalId !== '' && twin !== undefined && twin !== self) throw new Refusal('duplicate_external_id');
}

/** Returns the topmost open modal of a user. */
export function topView(world: World, userId: string): View | undefined {
  return [...world.views.values()].findLast((one) => one.isOpen && one.type === 'modal' && one.userId === userId);
}

/** Methods for modals and the Home tab. @see docs.slack.dev/surfaces/modals, docs.slack.dev/surfaces/app-home */
export const viewMethods = {
  'views.open': {
    by: 'bot',
    scopes: [],
    tier: 4,
    handle(call) {
      const { world, team, args } = call;
      const form = checked(openForm, args, { what: 'views.open' });
      const view = checkedView(form.view, 'modal');
      demandFresh(call, view);
      const { userId } = exchange(call, form.trigger_id);
      return { view: viewJson(world, openView(world, { teamId: team.id, userId, previous: null }, view)) };
    },
  },
  'views.push': {
    by: 'bot',
    scopes: [],
    tier: 4,
    handle(call) {
      const { world, team, args } = call;
      const form = checked(openForm, args, { what: 'views.push' });
      const view = checkedView(form.view, 'modal');
      demandFresh(call, view);
      const { userId, viewId } = exchange(call, form.trigger_id);
      const previous = world.views.get(viewId ?? '');
      // @see docs.slack.dev/surfaces/modals "Pushing views": only from an interaction inside an open modal
      if (previous?.isOpen !== true) throw new Refusal('not_found', { violation: 'views.push without an open modal' });
      return { view: viewJson(world, openView(world, { teamId: team.id, userId, previous }, view)) };
    },
  },
  'views.update': {
    by: 'bot',
    scopes: [],
    tier: 4,
    handle(call) {
      const { world, team, args } = call;
      const form = checked(updateForm, args, { what: 'views.update' });
      const view = world.views.values().find((one) => {
        const isMeant = form.view_id === undefined ? one.externalId === form.external_id : one.id === form.view_id;
        return isMeant && one.teamId === team.id && one.isOpen && one.type === 'modal';
      });
      if (view === undefined) throw new Refusal('not_found');
      const next = checkedView(form.view, 'modal');
      demandFresh(call, next, view);
      // "protect against possible race conditions": reference/methods/views.update, `hash`
      if (form.hash !== undefined && form.hash !== view.hash) throw new Refusal('hash_conflict');
      applyView(view, next);
      return { view: viewJson(world, view) };
    },
  },
  'views.publish': {
    by: 'bot',
    scopes: [],
    tier: 4,
    handle(call) {
      const { world, team, args } = call;
      const form = checked(publishForm, args, { what: 'views.publish' });
      // @see docs.slack.dev/reference/methods/views.publish: not_enabled
      if (!world.manifest.hasHome) throw new Refusal('not_enabled', { violation: 'views.publish without a Home tab' });
      if (world.users.get(form.user_id)?.teamId !== team.id) throw new Refusal('user_not_found');
      const next = checkedView(form.view, 'home');
      // Views name every refusal of their contents so.
      demandPictures(world, next.blocks, 'invalid_arguments');
      const shown = world.views.values().find((one) => one.type === 'home' && one.userId === form.user_id);
      if (form.hash !== undefined && form.hash !== shown?.hash) throw new Refusal('hash_conflict');
      if (shown === undefined) {
        const opened = openView(world, { teamId: team.id, userId: form.user_id, previous: null }, next);
        return { view: viewJson(world, opened) };
      }
      applyView(shown, next);
      return { view: viewJson(world, shown) };
    },
  },
} as const satisfies Record<string, Method>;
