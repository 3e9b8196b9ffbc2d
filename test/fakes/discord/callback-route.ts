import { z } from 'zod';
import { checked, invalid } from './form.ts';
import { checkedMessage } from './message-form.ts';
import { checkedModal } from './modal.ts';
import { type Draft, edit, post } from './posting.ts';
import { FLAGS, type Interaction, type Message } from './records.ts';
import { type Json, Refusal } from './refusal.ts';
import { type Answer, type Call, ok, type Route } from './routes.ts';
import { answerable } from './tokens.ts';
import { messageJson } from './wire.ts';

/** @see discord docs: interactions/receiving-and-responding, "Interaction Callback Type" */
const KINDS: Readonly<Record<number, readonly Interaction['kind'][]>> = {
  4: ['command', 'component', 'modal'],
  5: ['command', 'component', 'modal'],
  // "Only valid for component-based interactions"; a modal opened by a component is one.
  6: ['component', 'modal'],
  7: ['component', 'modal'],
  8: ['autocomplete'],
  // "Not available for MODAL_SUBMIT and PING interactions".
  9: ['command', 'component'],
};

/** "Only SUPPRESS_EMBEDS, EPHEMERAL, IS_COMPONENTS_V2, IS_VOICE_MESSAGE and SUPPRESS_NOTIFICATIONS can be set." */
export const ANSWER_FLAGS = FLAGS.suppressEmbeds | FLAGS.ephemeral | FLAGS.v2 | FLAGS.silent;

const envelope = z.looseObject({ type: z.int(), data: z.looseObject({}).nullish() });

/**
 * @see discord docs: interactions/receiving-and-responding, "Autocomplete"; application-commands, "Option Choice
 * Structure"
 */
const choices = z.looseObject({
  choices: z
    .array(
      z.looseObject({
        name: z.string().min(1).max(100),
        value: z.union([z.string().min(1).max(100), z.number()]),
      }),
    )
    .max(25),
});

/**
 * Route of the first response to an interaction. @see discord docs: interactions/receiving-and-responding, "Create
 * Interaction Response"
 */
export const callbackRoutes = {
  'POST /interactions/:interaction/:token/callback': {
    by: 'token',
    bucket: 'callback',
    handle(call) {
      const { world } = call;
      const interaction = answerable(world, call.at('interaction'), call.at('token'));
      const { type, data } = checked(envelope, call.json, 'interaction response');
      const kinds = KINDS[type] ?? [];
      if (!kinds.includes(interaction.kind) || ((type === 6 || type === 7) && interaction.sourceId === null)) {
        throw invalid('type', `${type} does not answer a ${interaction.kind}`);
      }
      const message = act(call, interaction, type, data ?? {});
      interaction.originalId = message?.id ?? null;
      interaction.answer = { type, atMs: world.clock.now(), data: data ?? {} };
      return call.query.get('with_response') === 'true' ? described(call, interaction, message) : undefined;
    },
  },
} as const satisfies Record<string, Route>;

/** Applies the response; returns the message that `@original` refers to from then on. */
function act({ world, files }: Call, interaction: Interaction, type: number, data: Json): Message | null {
  const draft = (flags: number): Draft => ({
    form: checkedMessage(data),
    files,
    maxBytes: interaction.maxFileBytes,
    isLimitKnown: true,
    mentions: 'webhook',
    flags,
  });
  const source = (): Message => {
    const message = world.messages.get(interaction.sourceId ?? '');
    if (message === undefined || message.isDeleted) throw new Refusal(404, 10008);
    return message;
  };
  switch (type) {
    case 4:
      return answer(world, interaction, draft(ANSWER_FLAGS));
    case 5: {
      // "The only valid message flag you may use is EPHEMERAL": "Interaction Callback Data Structure", \*.
      const { form, ...rest } = draft(FLAGS.ephemeral);
      return answer(world, interaction, { ...rest, form: { flags: form.flags } }, true);
    }
    case 6:
      return source();
    case 7: {
      const message = source();
      edit(world, message, draft(FLAGS.suppressEmbeds | FLAGS.v2));
      return message;
    }
    case 8:
      checked(choices, data, 'autocomplete result');
      return null;
    case 9:
      checkedModal(data);
      return null;
    default:
      throw new Refusal(400, 50035, { violation: `unknown answer type ${type}` });
  }
}

/** Posts a message as the response or a follow-up to an interaction. */
export function answer(world: Call['world'], interaction: Interaction, draft: Draft, isLoading = false): Message {
  const isEphemeral = ((draft.form.flags ?? 0) & FLAGS.ephemeral) !== 0;
  return post(
    world,
    {
      channel: world.channel(interaction.channelId),
      author: world.bot,
      interactionId: interaction.id,
      // "Responses to Message Components … including a message reference": "Message Interaction Object".
      replyTo: interaction.sourceId,
      visibleTo: isEphemeral ? interaction.userId : null,
      isLoading,
    },
    draft,
  );
}

/** @see discord docs: interactions/receiving-and-responding, "Interaction Callback Response Object" */
function described({ world }: Call, { id, payload, answer: given }: Interaction, message: Message | null): Answer {
  const type = given?.type ?? 0;
  const about =
    message === null
      ? {}
      : {
          response_message_id: message.id,
          response_message_loading: (message.flags & FLAGS.loading) !== 0,
          response_message_ephemeral: message.visibleTo !== null,
        };
  // discord.js also reads the message of a deferred response, and Discord sends it: only types 8 and 9 have none.
  const resource = { type, ...(message === null ? {} : { message: messageJson(world, message) }) };
  return ok({ interaction: { id, type: payload['type'], ...about }, resource });
}
