import type { Clock } from '../clock.ts';
import { collection, type Store, type Versioned } from '../engine/index.ts';
import { isoOf } from '../period.ts';
import { type Approver, type Person, withoutPerson } from '../tasks/index.ts';
import type { AuditTrail } from './audit/audit.ts';
import type { Actor, AuditValue } from './audit/audit-entry.ts';
import { keyOfTeam, type TeamKey } from './team-settings.ts';

/** Approver of a team; a deputy until a time. */
export interface TeamApprover extends Approver {
  /** First moment at which the approval rights are gone. Absent: no end. */
  readonly untilMs?: number;
  readonly by: Person;
}

/** Approvers as stored: deputies whose time is over are left in until the next change. */
interface ApproversRecord extends Versioned {
  readonly approvers: readonly TeamApprover[];
}

const approversOfTeams = collection<TeamKey, ApproversRecord>({
  name: 'approvers',
  key: keyOfTeam,
  holds: 'approvers: persons, roles, user groups',
  kept: 'until they are removed',
  personal: {
    keyFor: keyOfTeam,
    withdraw: (record, { person }) => ({
      ...record,
      approvers: record.approvers.filter(({ kind, id }) => kind !== 'person' || id !== person.id),
    }),
    forget: (record, { person, pseudonym }) => withoutPerson(record, person.id, pseudonym),
    export: ({ approvers }, { person }) =>
      approvers
        .filter(({ kind, id }) => kind === 'person' && id === person.id)
        .map(({ name, untilMs }) => ({
          record: 'approver',
          name,
          until: isoOf(untilMs),
        })),
  },
});

/** Dependencies of {@link Approvers}. */
interface ApproversOptions {
  readonly store: Pick<Store, 'keyv'>;
  readonly audit: Pick<AuditTrail, 'commitAudited'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Approvers of teams. Every method rejects with `store_unavailable`. */
export class Approvers {
  readonly #options: ApproversOptions;

  constructor(options: ApproversOptions) {
    this.#options = options;
  }

  /** Returns a team's approvers, without deputies whose time is over. */
  async list(team: TeamKey): Promise<readonly TeamApprover[]> {
    const nowMs = this.#options.clock.now();
    return ((await this.#read(team))?.approvers ?? []).filter((one) => isValid(one, nowMs));
  }

  /** Adds an approver, or changes until when; with an entry in the team's audit log. @returns whether that changed. */
  add(
    team: TeamKey,
    actor: Actor & { readonly person: Person },
    approver: Approver,
    untilMs?: number,
  ): Promise<boolean> {
    const { kind, id, name } = approver;
    const added = { kind, id, name, by: actor.person, ...(untilMs === undefined ? {} : { untilMs }) };
    return this.#change(team, actor, approver, added);
  }

  /** Removes an approver, with an entry in the team's audit log. @returns whether there was one. */
  remove(team: TeamKey, actor: Actor, approver: Pick<Approver, 'kind' | 'id'>): Promise<boolean> {
    return this.#change(team, actor, approver, null);
  }

  #change(
    team: TeamKey,
    actor: Actor,
    { kind, id }: Pick<Approver, 'kind' | 'id'>,
    next: TeamApprover | null,
  ): Promise<boolean> {
    return this.#options.audit.commitAudited(team, actor, async () => {
      const record = await this.#read(team);
      const nowMs = this.#options.clock.now();
      const valid = (record?.approvers ?? []).filter((one) => isValid(one, nowMs));
      const before = valid.find((one) => one.kind === kind && one.id === id);
      if (before?.untilMs === next?.untilMs && (before === undefined) === (next === null)) return { result: false };
      const approvers = [...valid.filter((one) => one !== before), ...(next === null ? [] : [next])];
      return {
        change: { records: [approversOfTeams.replacing(team, record, { approvers })] },
        entries: [{ action: 'approver', before: valuesOf(before ?? null), after: valuesOf(next) }],
        result: true,
      };
    });
  }

  #read(team: TeamKey): Promise<ApproversRecord | undefined> {
    return approversOfTeams.get(this.#options.store, team);
  }
}

/** Returns the approvers of a person's request, without that person. Empty: administrators do. */
export function approversFor(approvers: readonly TeamApprover[], requester: string): readonly Approver[] {
  return approvers
    .filter(({ kind, id }) => kind !== 'person' || id !== requester)
    .map(({ kind, id, name }) => ({ kind, id, name }));
}

/**
 * Returns who decides on a request and is told of it: those of its approvers who are still in the team. Empty: administrators
 * do, since all have left, or there was none.
 * @param isMember asked about people; roles and groups stay.
 */
export async function whoDecides(
  approvers: readonly Approver[],
  isMember: (user: string) => Promise<boolean>,
): Promise<readonly Approver[]> {
  const areThere = await Promise.all(approvers.map(async ({ kind, id }) => kind !== 'person' || isMember(id)));
  return approvers.filter((_, at) => areThere[at]);
}

function isValid({ untilMs }: TeamApprover, nowMs: number): boolean {
  return untilMs === undefined || nowMs < untilMs;
}

function valuesOf(approver: TeamApprover | null): readonly AuditValue[] {
  if (approver === null) return [];
  const { kind, id, name, untilMs } = approver;
  const who: AuditValue = kind === 'person' ? { kind: 'person', person: { id, name } } : { kind: 'role', role: id };
  return [who, ...(untilMs === undefined ? [] : [{ kind: 'time', atMs: untilMs } as const])];
}
