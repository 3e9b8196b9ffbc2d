import type { Person } from '#src/tasks/index.ts';
import type { Caller } from '../bot-port.ts';
import { type BotPorts, visibleTo } from './subcommand.ts';

/** Number of the team's latest clips that are searched for a person's name. */
const SEARCHED = 1000;

/**
 * Resolves a `person` option: `everyone`, `me`, a mention, or the name (with or without `@`) of the requester of a clip
 * in this team.
 * @returns `null` for an unknown or ambiguous name.
 */
export async function personNamed(ports: BotPorts, caller: Caller, text: string): Promise<Person | 'everyone' | null> {
  const mentioned = MENTION.exec(text)?.groups;
  if (mentioned !== undefined) {
    const { id = '', name = '' } = mentioned;
    return name === '' || id === caller.user.id ? personWithId(ports, caller, id) : { id, name };
  }
  const name = text.replace(/^@/u, '').toLowerCase();
  if (name === 'everyone') return 'everyone';
  if (name === 'me') return caller.user;
  const people = await knownPeople(ports, caller);
  const known = people.filter((person) => person.id.toLowerCase() === name || person.name.toLowerCase() === name);
  return known.length === 1 ? (known[0] ?? null) : null;
}

/** As {@link personNamed}, except that on the playground, any name is a person's, also of one who never ordered. */
export async function anyoneNamed(ports: BotPorts, caller: Caller, text: string): Promise<Person | 'everyone' | null> {
  const known = await personNamed(ports, caller, text);
  const name = text.replace(/^@/u, '');
  const isName = caller.platform === 'playground' && /^[^\s<>]{1,40}$/u.test(name);
  return known ?? (isName ? { id: name, name } : null);
}

/** Mention as the adapters pass it: `<@id>` or `<@id|name>`. */
const MENTION = /^<@(?<id>[^|>]+)(?:\|(?<name>[^>]*))?>$/u;

/** Writes a person as the adapters pass one. */
export function mentionOf({ id, name }: Person): string {
  return `<@${id}|${name.replace(/[<>|\n]/gu, '')}>`;
}

/** Returns the person of an id; with the id as the name where no clip of the team is theirs. */
export async function personWithId(ports: BotPorts, caller: Caller, id: string): Promise<Person> {
  if (id === caller.user.id) return caller.user;
  const people = await knownPeople(ports, caller);
  return people.find((person) => person.id === id) ?? { id, name: id };
}

/** Returns the caller and the requesters of the team's latest clips, without duplicates. */
export async function knownPeople({ tasks }: BotPorts, caller: Caller): Promise<readonly Person[]> {
  const latest = await tasks.history(visibleTo(caller), { offset: 0, limit: SEARCHED });
  const people = [caller.user, ...latest.map(({ origin }) => origin.user)];
  return [...new Map(people.toReversed().map((person) => [person.id, person])).values()];
}

/** Returns a text with mentions as they read: `#clips`, `@ada`, for a refusal that quotes it. */
export function withoutMarkup(text: string): string {
  return text.replace(
    ANY_MENTION,
    (_, sign: string, id: string, name = '') => `${sign}${name.replace(/^[@#]/u, '') || id}`,
  );
}

const ANY_MENTION = /<([@#])&?([^|<>]+)(?:\|([^<>]*))?>/gu;

/** Returns the id or name in a `channel` option: `<#id|clips>`, as the adapters pass it, `#clips` or `clips`. */
export function channelNamed(text: string): string {
  return /^<#([^|>]+)(?:\|[^>]*)?>$/u.exec(text)?.[1] ?? text.replace(/^#/u, '');
}
