import { z } from 'zod';

export const TEAM = 'playground';

/** Returns the schema of a text of bounded length; its errors follow the field's name: "user: is missing". */
function anyText(maxLength: number) {
  return z
    .string({ error: (issue) => (issue.input === undefined ? 'is missing' : 'has to be text') })
    .max(maxLength, `is longer than ${maxLength} characters`);
}

function text(maxLength: number) {
  return anyText(maxLength).min(1, 'is empty');
}

/** Returns the schema of a name: trimmed, in NFC, without invisible characters. */
function name(maxLength: number) {
  return z
    .preprocess((given) => (typeof given === 'string' ? given.normalize('NFC').trim() : given), text(maxLength))
    .refine((given) => !/\p{C}|[\u2028\u2029]/u.test(given), 'holds characters that cannot be seen');
}

/** Idempotency key of an interaction, chosen by the client and repeated on a retry. */
const interactionId = text(200);
const user = name(40);
const messageId = text(100);

/** `#general` and `general` are one channel. */
const channel = z.preprocess((given) => (typeof given === 'string' ? given.trim().replace(/^#/, '') : given), name(60));

/** `POST /playground/interactions`. The text may be empty: the refusal then shows an example command. */
export const interactionBody = z.object({ id: interactionId, user, channel, text: anyText(20_000) });

/** Message with the button or form of an interaction; a channel, where it is on the page Settings or a command opened the form. */
const place = { message: messageId.nullish(), channel: channel.optional() };
const NO_CHANNEL = { path: ['channel'], error: 'is missing' };

function hasPlace(body: {
  readonly message?: string | null | undefined;
  readonly channel?: string | undefined;
}): boolean {
  return typeof body.message === 'string' || body.channel !== undefined;
}

/** `POST /playground/presses`. */
export const pressBody = z
  .object({ id: interactionId, user, ...place, button: text(100) })
  .refine(hasPlace, NO_CHANNEL);

/** `POST /playground/reactions`. */
export const reactionBody = z.object({ id: interactionId, user, message: messageId, emoji: text(20) });

/** `POST /playground/forms`: a form submission. */
export const formBody = z
  .object({
    id: interactionId,
    user,
    ...place,
    form: text(100),
    /** Price that an order's form showed, as in button ids; empty for none. */
    price: anyText(50).optional(),
    values: z.record(z.string().max(100), z.string('has to be text').max(20_000, 'is too long'), {
      error: (issue) => (issue.input === undefined ? 'is missing' : 'has to be an object of texts'),
    }),
  })
  .refine(hasPlace, NO_CHANNEL);

/** `POST /playground/dismissals`: the user dismisses an ephemeral message. */
export const dismissalBody = z.object({ user, message: messageId });

const MAX_PAGE = 1000;

/**
 * `GET /playground/messages`: the newest `limit` messages (default 500, at most {@link MAX_PAGE}), or as many before,
 * after or around one. With `user`, leaves out ephemeral messages of other users.
 */
export const messagesQuery = z
  .object({
    channel: channel.default('general'),
    user: user.optional(),
    limit: z.coerce
      .number('has to be a number')
      .int('has to be whole')
      .min(1, 'has to be at least 1')
      .transform((limit) => Math.min(limit, MAX_PAGE))
      .optional(),
    before: messageId.optional(),
    after: messageId.optional(),
    around: messageId.optional(),
    /** Pages consist of the messages of the channel itself; those of threads come with their cards, besides. */
    threads: z.literal('grouped').optional(),
  })
  .refine(({ before, after, around }) => [before, after, around].filter((id) => id !== undefined).length < 2, {
    path: ['around'],
    error: 'goes with neither before nor after',
  });

/** `GET /playground/events`. */
export const eventsQuery = z.object({ user });

/** `GET /playground/commands` and `/settings`, `POST /playground/gallery`. Without a channel: as in one without rules of its own. */
export const commandsQuery = z.object({ user, channel: channel.optional() });

/** `GET /playground/suggestions`: `given` is the JSON of the options typed so far. */
export const suggestionsQuery = z.object({
  user,
  channel,
  command: text(50),
  option: text(50),
  typed: z.string('has to be text').max(500, 'is longer than 500 characters').default(''),
  given: z
    .string()
    .max(50_000, 'is too long')
    .default('{}')
    .transform((json, context): unknown => {
      try {
        return JSON.parse(json);
      } catch {
        context.addIssue('is not JSON');
        return z.NEVER;
      }
    })
    .pipe(z.record(z.string(), z.array(z.string()), 'has to be an object of lists')),
});
