import type { FastifyInstance } from 'fastify';
import type { Cut, Shot } from '../../orders/index.ts';
import { typedPrompt } from '../../tasks/index.ts';
import { isClip } from '../clips.ts';
import { GALLERY_PATH } from '../requests.ts';
import type { EnteredRoute } from '../session-scope.ts';
import type { GallerySets, VisibleSet } from './sets.ts';

/** Options of {@link addSets}. */
export interface SetRouteOptions {
  readonly sets: GallerySets;
}

/** Adds what the page shows above the clips of a set: a board's order, and its cuts. */
export function addSets(http: FastifyInstance, route: EnteredRoute, { sets }: SetRouteOptions): void {
  http.get<{ Params: { id: string } }>(
    `${GALLERY_PATH}/api/sets/:id`,
    route(async ({ scope }, request, reply) => {
      const { id } = request.params as { readonly id: string };
      const set = await sets.find(scope, id);
      if (set === undefined) return reply.code(404).send({ error: 'There are no clips of this order.' });
      const { kind, of } = set.board.place;
      const isBoard = kind === 'storyboard';
      return {
        id,
        kind,
        of,
        shots: isBoard ? set.board.shots.map((shot) => shotOf(shot, set)) : null,
        cuts: isBoard ? (await sets.cutsOf(scope, set)).map(cutOf) : [],
      };
    }),
  );
}

/** Returns a shot of a board in the order of the cut, with the clip that is in it. */
function shotOf({ at, isSkipped, chosen }: Shot, { tasks }: VisibleSet) {
  const task = tasks.get(chosen.id);
  const clip = task !== undefined && isClip(task) ? { id: task.id, prompt: typedPrompt(task.request) } : null;
  return { at, isSkipped, clip };
}

function cutOf({ id, tasks, file, origin, requestedAtMs }: Cut) {
  const { bytes = 0, seconds = 0 } = file ?? {};
  return { id, shots: tasks.length, bytes, seconds, by: origin.user.name, requestedAtMs };
}
