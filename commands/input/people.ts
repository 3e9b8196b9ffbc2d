import type { Person } from '#src/tasks/task.ts';
import type { Caller } from '../bot-port.ts';
import { type BotPorts, visibleTo } from './subcommand.ts';

/** How many of the team's latest clips are searched for somebody's name. */
const SEARCHED = 1000;

/**
 * Whom a `person` option names: `everyone`, `me`, a mention, or a name (with or without `@`) that somebody goes by who
 * has asked for a clip here.
 * @returns `null` for a name nobody here goes by, or that several people do.
 */
export async function personNamed(ports: BotPorts, caller: Caller, text: string): Promise<Person | 'everyone' | null> {
  const mentioned = MENTION.exec(text)?.groups;
  if (mentioned !== undefined) return personMentioned(ports, caller, mentioned['id'] ?? '', mentioned['name']);
  const name = text.replace(/^@/u, '').toLowerCase();
  if (name === 'everyone') return 'everyone';
  if (name === 'me') return caller.user;
  const people = await knownPeople(ports, caller);
  const known = people.filter((person) => person.id.toLowerCase() === name || person.name.toLowerCase() === name);
  return known.length === 1 ? (known[0] ?? null) : null;
}

/** As platforms write them: `<@U123|ada>`, `<@123>`, `<@!123>`. */
const MENTION = /^<@!?(?<id>[^|>]+)(?:\|(?<name>[^>]*))?>$/u;

async function personMentioned(ports: BotPorts, caller: Caller, id: string, name: string | undefined): Promise<Person> {
  if (id === caller.user.id) return caller.user;
  if (name !== undefined && name !== '') return { id, name };
  const people = await knownPeople(ports, caller);
  return people.find((person) => person.id === id) ?? { id, name: id };
}

/** The caller and everybody who asked for one of the team's latest clips, each once. */
async function knownPeople({ tasks }: BotPorts, caller: Caller): Promise<readonly Person[]> {
  const latest = await tasks.history(visibleTo(caller), { offset: 0, limit: SEARCHED });
  const people = [caller.user, ...latest.map(({ origin }) => origin.user)];
  return [...new Map(people.toReversed().map((person) => [person.id, person])).values()];
}

/** The id a `channel` option names: `<#C123|clips>`, `#clips` or `clips`. */
export function channelNamed(text: string): string {
  return /^<#([^|>]+)(?:\|[^>]*)?>$/u.exec(text)?.[1] ?? text.replace(/^#/u, '');
}
