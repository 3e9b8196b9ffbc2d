import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { MemberKey, PersonalDefaults } from '../teams/index.ts';
import { ASPECT_RATIOS, checkDefaults, type Defaults, listed, type Model, SETTINGS } from '../videos/index.ts';
import type { GallerySession } from './access.ts';
import type { ApiOptions } from './api.ts';
import { GALLERY_PATH } from './requests.ts';
import type { EnteredRoute } from './session-scope.ts';

/** Options of {@link addDefaults}. */
export interface DefaultsOptions extends Pick<ApiOptions, 'catalog'> {
  readonly defaults: Pick<PersonalDefaults, 'get' | 'change'>;
}

/** Changed values; `null` removes one. */
const patchBody = z.strictObject({
  model: z.string().min(1).max(200).nullable().optional(),
  seconds: z.number().int().min(1).nullable().optional(),
  aspect: z.enum(ASPECT_RATIOS).nullable().optional(),
});

const NOT_OFFERED = 'This is not offered any more. Reload the page.';

/** Adds the person's defaults: model, length and aspect ratio of their orders that name none, with the choices for them. */
export function addDefaults(http: FastifyInstance, route: EnteredRoute, { defaults, catalog }: DefaultsOptions): void {
  const path = `${GALLERY_PATH}/api/defaults`;
  http.get(
    path,
    route(async ({ session }) => {
      const { models, defaultModel } = catalog();
      const values = valuesOf(await defaults.get(memberOf(session)));
      return { values, standard: defaultModel.name, models: models.map(choicesOf) };
    }),
  );
  http.post(
    path,
    { bodyLimit: 4_096 },
    route(async ({ session }, request, reply) => {
      const patch = patchBody.parse(request.body);
      const member = memberOf(session);
      const stored = patch.model === undefined ? (await defaults.get(member)).model : patch.model;
      // A default model that is not in the catalog any more has no effect; one that was just chosen is refused.
      const isKnown = catalog().models.some(({ name }) => name === stored) || typeof patch.model === 'string';
      const model = isKnown ? (stored ?? undefined) : undefined;
      const { seconds, aspect } = patch;
      const checked = checkDefaults(catalog(), { model, seconds: seconds ?? undefined, aspect: aspect ?? undefined });
      if (!checked.ok) return reply.code(409).send({ error: NOT_OFFERED });
      return { values: valuesOf(await defaults.change(member, patch)) };
    }),
  );
}

function memberOf({ platform, team, user }: GallerySession): MemberKey {
  return { platform, team, user: user.id };
}

function valuesOf({ model, seconds, aspect }: Defaults) {
  return { model: model ?? null, seconds: seconds ?? null, aspect: aspect ?? null };
}

/** Returns what a model offers for each default. `choices`: `null` for too many to list; `usual`: its own. */
function choicesOf(model: Model) {
  const settings = SETTINGS.filter(({ name }) => name !== 'resolution').map((setting) => {
    const usual = setting.defaultOf(model) ?? null;
    return [setting.name, { choices: listed(setting.offerOf(model)), usual }] as const;
  });
  return { name: model.name, title: model.title, ...Object.fromEntries(settings) };
}
