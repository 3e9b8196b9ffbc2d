import type { Person } from '#src/tasks/task.ts';
import type { Caller, GivenOptions, OptionDeclaration, Reply } from './command.ts';
import { isSet, optionValue } from './options.ts';
import { channelNamed, personNamed } from './people.ts';
import { notifyCard } from './sentences/notify.ts';
import { missingRightSentence, unknownPerson } from './sentences/refusals.ts';
import { type BotPorts, privately, refused, type Subcommand } from './subcommand.ts';

const optional = { required: false, repeated: false } as const;

const options: readonly OptionDeclaration[] = [
  {
    ...optional,
    name: 'who',
    description: 'Whose clips: everyone, me, or a person',
    kind: 'person',
    positional: true,
    defaultWords: 'everyone',
  },
  {
    ...optional,
    name: 'channel',
    description: 'Where it is told',
    kind: 'channel',
    positional: false,
    defaultWords: 'this channel',
  },
  {
    ...optional,
    name: 'off',
    description: 'Stops telling; without who, of anybody',
    kind: 'flag',
    positional: false,
    defaultWords: 'telling',
  },
];

/** `/video notify`: who is told of completions, and in which channel. */
export const notify: Subcommand = {
  declaration: {
    name: 'notify',
    description: 'Tells of finished clips of this team in a channel',
    example: '/video notify everyone',
    options,
    visibility: 'private',
  },
  run: async (ports, caller, given) => {
    const named = optionValue(given, 'who');
    // `/video notify off` is how people say it.
    const isOff = isSet(given, 'off') || named?.toLowerCase() === 'off';
    const wanted = named?.toLowerCase() === 'off' ? undefined : named;
    const who = wanted === undefined ? undefined : await personNamed(ports, caller, wanted);
    if (wanted !== undefined && who === null) return refused(unknownPerson(wanted));
    const channel = channelOf(caller, given);
    return isOff ? stop(ports, caller, channel, who ?? null) : start(ports, caller, channel, who ?? 'everyone');
  },
};

function channelOf(caller: Caller, given: GivenOptions): string {
  const named = optionValue(given, 'channel');
  return named === undefined ? caller.channel : channelNamed(named);
}

type Whose = Person | 'everyone';

async function start(ports: BotPorts, caller: Caller, channel: string, who: Whose): Promise<Reply> {
  const { platform, team, user, address } = caller;
  const place = { team, channel, address: channel === caller.channel ? address : {} };
  const lacking = await ports.chat.missingRight(platform, place);
  if (lacking !== null) return refused(missingRightSentence(lacking));
  const subscription = { platform, team, channel, who, by: user };
  const isNew = await ports.subscriptions.add(subscription);
  const now = await ports.subscriptions.list(platform, team);
  return privately(notifyCard({ kind: isNew ? 'added' : 'there_already', subscription }, now));
}

async function stop(ports: BotPorts, caller: Caller, channel: string, who: Whose | null): Promise<Reply> {
  const { platform, team } = caller;
  const removed = await ports.subscriptions.remove(platform, team, channel, who);
  const now = await ports.subscriptions.list(platform, team);
  return privately(notifyCard({ kind: 'removed', removed, channel }, now));
}
