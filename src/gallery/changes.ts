import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { GalleryAccess } from './access.ts';
import type { GalleryClips } from './clips.ts';
import type { PressInGallery } from './orders.ts';
import { GALLERY_PATH, sessionKeyOf, setCookie } from './requests.ts';
import type { EnteredRoute } from './session-scope.ts';

/** Options of {@link addPresses}. */
export interface PressOptions {
  readonly access: GalleryAccess;
  readonly clips: GalleryClips;
  readonly press: PressInGallery;
}

const pressBody = z.object({
  id: z.string().regex(/^[0-9a-f]{32}$/),
  task: z.string().max(100),
  action: z.discriminatedUnion('kind', [
    z.object({
      kind: z.literal('retry'),
      price: z.object({
        amount: z.string().regex(/^\d{1,20}(\.\d{1,20})?$/),
        currency: z.string().regex(/^[A-Z]{3}$/),
      }),
    }),
    z.object({ kind: z.literal('delete') }),
    z.object({ kind: z.literal('button'), button: z.string().min(1).max(100) }),
  ]),
});

/** Adds the changes: a press on the page of a clip, and the end of the session. */
export function addPresses(http: FastifyInstance, route: EnteredRoute, { access, clips, press }: PressOptions): void {
  http.post(
    `${GALLERY_PATH}/api/presses`,
    { bodyLimit: 4_096 },
    route(async ({ session, scope }, request, reply) => {
      const { id, task: of, action } = pressBody.parse(request.body);
      const task = await clips.find(scope, of);
      if (task === undefined) return reply.code(404).send({ error: 'There is no such clip.' });
      return press({ session, task, id, action });
    }),
  );
  http.post(
    `${GALLERY_PATH}/api/end`,
    { bodyLimit: 4_096 },
    route(async (_entered, request, reply) => {
      await access.end(sessionKeyOf(request));
      return setCookie(reply, '', false).send({ ended: true });
    }),
  );
}
