import type { MissingRight } from '#src/chat/index.ts';
import { asDailiesError } from '#src/errors.ts';
import { type Draft, type NewDraft, taskIdOf } from '#src/pipeline/index.ts';
import type { ApprovalRequest, Audience, Price } from '#src/tasks/index.ts';
import type { TeamSettings } from '#src/teams/index.ts';
import { type CheckedStoryboard, draftOfOrder, type Refusal } from '#src/videos/index.ts';
import type { Caller } from '../bot-port.ts';
import { type BotPorts, teamOf } from '../input/subcommand.ts';
import { judgingOnce } from '../policy/rules-here.ts';
import type { Ordered } from '../sentences/ordered.ts';
import { draftOf, type OrderIdentity, orderKey } from './offers.ts';
import { type Accepted, orderedBy, orderPrice } from './what-fits.ts';

/** Press that asks for an approval. `isPromptShown`: the requester's answer; `null` if not asked. */
export interface Asked {
  readonly isPromptShown: boolean | null;
}

/** Identity of an order, with the draft that it confirms and the approval that it asks for, if any. */
export type Ordering = OrderIdentity & { readonly draft?: Draft; readonly ask?: Asked };

/** Clip of an order. */
type OrderedClip = CheckedStoryboard['shots'][number];

interface GivenOrder {
  readonly ports: BotPorts;
  readonly caller: Caller;
  /** Settings of the caller's team. */
  readonly settings: TeamSettings;
  readonly checked: Accepted;
  readonly ordering: Ordering;
}

/** What the channel of an order and the hosts of its reference media show. */
interface Surroundings {
  /** Clips to make; those of a comparison in the order of their labels. */
  readonly clips: readonly OrderedClip[];
  /** Right that the bot lacks to post them. */
  readonly lacking: MissingRight | null;
  readonly audience: Audience;
  /** Reference media that the service could not fetch. */
  readonly unreachable: readonly Refusal[];
}

/** An order on its way through the gates: what they judge it by, each read once, and what they add to it. */
export class OrderContext {
  readonly #given: GivenOrder;
  readonly caller: Caller;
  readonly settings: TeamSettings;
  readonly ordering: Ordering;
  /** The ports, with these settings. */
  readonly ports: BotPorts;
  /** Idempotency key, as in `Order.key`. */
  readonly key: string;
  readonly price: Price;
  readonly ordered: Ordered;
  /** Its chained clips are resolved by their gate. */
  checked: Accepted;
  /** Approval to request in place of the purchase. */
  approval: ApprovalRequest | null = null;
  /** As in `Order.isUnasked`. */
  isUnasked = false;
  /** The draft that is stored for it, once that is read. */
  storedDraft: Promise<Draft | undefined> | undefined;
  #surroundings: Promise<Surroundings> | undefined;
  #isClaimed = false;

  constructor(given: GivenOrder) {
    const { ports, caller, settings, checked, ordering } = given;
    this.#given = given;
    this.caller = caller;
    this.settings = settings;
    this.ordering = ordering;
    this.ports = judgingOnce(ports, { of: teamOf(caller), settings });
    this.key = ordering.key ?? orderKey(caller);
    this.price = orderPrice(checked);
    this.ordered = orderedBy(checked);
    this.checked = checked;
  }

  /** The draft that it confirms, or else the one to save where it is asked about or refused. */
  get draft(): NewDraft {
    const { draft, ask: _, ...identity } = this.ordering;
    return draft ?? draftOf(this.caller, { ...identity, request: draftOfOrder(this.checked) });
  }

  /** Returns whether a delivery of the order has claimed it before; read again until one has. */
  async isClaimed(): Promise<boolean> {
    this.#isClaimed ||= (await this.ports.tasks.get(taskIdOf(this.key))) !== undefined;
    return this.#isClaimed;
  }

  surroundings(): Promise<Surroundings> {
    this.#surroundings ??= lookAround(this);
    return this.#surroundings;
  }

  /** Returns the order as it is by other settings. */
  under(settings: TeamSettings): OrderContext {
    return new OrderContext({ ...this.#given, settings, checked: this.checked });
  }
}

async function lookAround({ ports, caller, checked, key }: OrderContext): Promise<Surroundings> {
  const { platform, team, channel, address } = caller;
  const ordered = clipsOf(checked);
  const inOrder =
    checked.compared === undefined
      ? ordered
      : await ports.chat.comparisons.records.inBlindOrder(taskIdOf(key), ordered, ({ model }) => model.name);
  const clips = inOrder.map((clip) => {
    const { image, audio, video } = clip.request.media;
    // Addresses of relayed media are signed anew: they may have expired since an earlier order.
    const media = { image: image.map(ports.renewed), audio: audio.map(ports.renewed), video: video.map(ports.renewed) };
    return { ...clip, request: { ...clip.request, media } };
  });
  const [lacking, audience, unreachable] = await Promise.all([
    missingRight(ports, caller),
    ports.chat.audienceAt(platform, { team, channel, address }),
    // Takes, and the clips of a comparison, have the same media.
    unreachableIn(ports, checked.storyboard === undefined ? clips.slice(0, 1) : clips),
  ]);
  return { clips, lacking, audience, unreachable };
}

/** Returns the clips of an order, as they are to be made. */
export function clipsOf({ request, model, takes, storyboard, compared }: Accepted): readonly OrderedClip[] {
  return compared ?? storyboard?.shots ?? Array.from({ length: takes }, () => ({ request, model }));
}

/** Checks the hosts of the reference media of clips; each problem names the line of its clip. */
async function unreachableIn(
  { checkReferences }: BotPorts,
  clips: readonly OrderedClip[],
): Promise<readonly Refusal[]> {
  const found = await Promise.all(
    clips.map(async ({ request, line }) =>
      (await checkReferences(request)).map((refusal) => (line === undefined ? refusal : { ...refusal, line })),
    ),
  );
  return found.flat();
}

/**
 * Returns the right that the bot lacks to post the clip; `null` also if the check fails, since delivery has its own
 * retries.
 * @throws DailiesError `unauthorised` if the platform no longer accepts the bot's token: nothing could be delivered
 */
async function missingRight({ chat, logger }: BotPorts, caller: Caller): Promise<MissingRight | null> {
  const { platform, team, channel, address } = caller;
  try {
    return await chat.platform(platform).channels.missingRight({ team, channel, address });
  } catch (thrown) {
    const error = asDailiesError(thrown, 'looking for missing rights');
    if (error.code === 'unauthorised') throw error;
    logger.warn(
      { event: 'missing_right_check_failed', err: error, platform, channel },
      'failed to check for missing rights',
    );
    return null;
  }
}
