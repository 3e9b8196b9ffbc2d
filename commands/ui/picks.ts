/** What a control of a form chose, as the adapters write it: a person, role, user group or channel. */
export interface Pick {
  readonly kind: 'person' | 'role' | 'group' | 'channel';
  readonly id: string;
}

const PICK = /^<(?<sign>@&?|#|!subteam\^)(?<id>[^|>]+)(?:\|[^>]*)?>$/u;
const KINDS: Readonly<Record<string, Pick['kind']>> = {
  '@': 'person',
  '@&': 'role',
  '#': 'channel',
  '!subteam^': 'group',
};

/** Returns what a value of a control chose, such as `<@U1|Ada>`; `null` for a text. */
export function pickIn(value: string): Pick | null {
  const { sign = '', id = '' } = PICK.exec(value)?.groups ?? {};
  const kind = KINDS[sign];
  return kind === undefined ? null : { kind, id };
}

/** Returns what the values of a control chose, one per line. */
export function picksIn(values: string): readonly Pick[] {
  return values.split('\n').flatMap((value) => pickIn(value) ?? []);
}
