import { createHmac, hash } from 'node:crypto';
import type { Versioned } from '../../engine/index.ts';
import type { Person, Price } from '../../tasks/index.ts';
import type { TEAM_SETTINGS } from '../settings-schema.ts';

/** Log that an entry belongs to: that of a team, or that of the deployment, for what its environment sets. */
export type AuditLog = { readonly platform: string; readonly team: string } | 'deployment';

/** Kind of an administrative change. Stored, so never renamed. */
export type AuditAction =
  | (typeof TEAM_SETTINGS)[keyof typeof TEAM_SETTINGS]['action']
  | 'budget'
  | 'soft_budget'
  | 'environment'
  | 'approver'
  | 'approval'
  | 'unconfirmed'
  | 'removal'
  | 'erasure'
  | 'statement_import'
  | 'statement_booking'
  | 'statement_decision';

/** Fact of an entry. */
export type AuditValue =
  /** Text of a closed vocabulary, such as a time zone. */
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'price'; readonly price: Price }
  | { readonly kind: 'channel'; readonly channel: string }
  | { readonly kind: 'role'; readonly role: string }
  | { readonly kind: 'time'; readonly atMs: number }
  | { readonly kind: 'task'; readonly task: string }
  | { readonly kind: 'person'; readonly person: Person }
  /** Text written by a person, such as a reason. */
  | { readonly kind: 'note'; readonly text: string };

/** A change to log. */
export interface AuditEntry {
  readonly action: AuditAction;
  /** What the change concerns, such as the channel of a budget. Default: the team. */
  readonly subject?: readonly AuditValue[];
  /** State before and after. Default: none. */
  readonly before?: readonly AuditValue[];
  readonly after?: readonly AuditValue[];
}

/** Returns a text of a closed vocabulary as a fact. */
export function textFact(text: string): AuditValue {
  return { kind: 'text', text };
}

/** Returns a text written by a person, or their id, as a fact that can be erased from the log. */
export function noteFact(text: string): AuditValue {
  return { kind: 'note', text };
}

/** Returns a price as a fact; none where there is none. */
export function priceFacts(price: Price | undefined): readonly AuditValue[] {
  return price === undefined ? [] : [{ kind: 'price', price }];
}

/** Surface through which a change was made. */
export type Surface = 'command' | 'button' | 'form' | 'environment' | 'command_line';

/** Author of a change. */
export interface Actor {
  /** `null`: the operator, who is known by access to the environment. */
  readonly person: Person | null;
  readonly surface: Surface;
}

/** Value as it is read: the person or note may have been erased. */
export type LoggedValue = AuditValue | { readonly kind: 'erased' };

/** Entry as it is read. */
export interface LoggedEntry {
  /** Number of the entry in its log, from 1. */
  readonly number: number;
  readonly atMs: number;
  readonly action: AuditAction;
  /** `null`: the operator; `'erased'`: a person whose data were erased. */
  readonly by: Person | 'erased' | null;
  readonly surface: Surface;
  readonly subject: readonly LoggedValue[];
  readonly before: readonly LoggedValue[];
  readonly after: readonly LoggedValue[];
}

/** Value as it is chained: persons and notes by a {@link sealOf}, under which an erasable record has their content. */
export type ChainedValue =
  | Exclude<AuditValue, { readonly kind: 'person' | 'note' }>
  | { readonly kind: 'person' | 'note'; readonly id: string };

/** Stored entry; {@link hashOf} covers every field but `revision` and `hash`. */
export interface ChainedEntry extends Versioned {
  readonly number: number;
  readonly atMs: number;
  readonly action: AuditAction;
  /** {@link sealOf} a person. */
  readonly by: string | null;
  readonly surface: Surface;
  readonly subject: readonly ChainedValue[];
  readonly before: readonly ChainedValue[];
  readonly after: readonly ChainedValue[];
  readonly hash: string;
}

/** Content behind an id in the chain, in an erasable record. */
export type Sealed = Extract<AuditValue, { readonly kind: 'person' | 'note' }> & {
  /** Key of the {@link sealOf} that is its id. */
  readonly salt: string;
};

/**
 * Returns the id of a person or a note, which only this content has with this salt: another one in its place is found,
 * and nothing leads from the id to the content once its record is erased.
 */
export function sealOf(sealed: Sealed): string {
  const content = sealed.kind === 'person' ? sealed.person.id : sealed.text;
  return createHmac('sha256', sealed.salt).update(`${sealed.kind}:${content}`).digest('hex').slice(0, 32);
}

/** Returns the hash of an entry and of all before it. */
export function hashOf(previous: string, entry: Omit<ChainedEntry, 'revision' | 'hash'>): string {
  const { number, atMs, action, by, surface, subject, before, after } = entry;
  const values = [subject, before, after].map((some) => some.map(fieldsOf));
  return hash('sha256', JSON.stringify([previous, number, atMs, action, by, surface, ...values]), 'hex');
}

/** Returns the fields of a value in a fixed order: a store may return those of an object in another one. */
function fieldsOf(value: ChainedValue): readonly (string | number)[] {
  switch (value.kind) {
    case 'text':
      return [value.kind, value.text];
    case 'price':
      return [value.kind, value.price.amount, value.price.currency];
    case 'channel':
      return [value.kind, value.channel];
    case 'role':
      return [value.kind, value.role];
    case 'time':
      return [value.kind, value.atMs];
    case 'task':
      return [value.kind, value.task];
    case 'person':
    case 'note':
      return [value.kind, value.id];
  }
}
