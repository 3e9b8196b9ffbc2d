import type { Approver } from '../../tasks/index.ts';
import { allowedSeconds } from '../../videos/index.ts';
import type { AuditEntry, AuditValue } from '../audit/audit-entry.ts';
import { channelRules, NO_POLICY, type Policy, type PolicyRules, type RuleName } from './policy.ts';

export function policyEntries(before: Policy = NO_POLICY, after: Policy = NO_POLICY): readonly AuditEntry[] {
  const channels = [...new Set([...Object.keys(before.channels), ...Object.keys(after.channels)])];
  return [
    ...entriesOf([], before.team, after.team),
    ...channels.flatMap((channel) =>
      entriesOf([{ kind: 'channel', channel }], channelRules(before, channel), channelRules(after, channel)),
    ),
  ];
}

function entriesOf(place: readonly AuditValue[], before: PolicyRules, after: PolicyRules): readonly AuditEntry[] {
  const names = Object.keys({ ...before, ...after }) as RuleName[];
  const entries = names.map((rule) => ({
    action: 'policy' as const,
    subject: [{ kind: 'text' as const, text: rule }, ...place],
    before: valuesOf(before, rule),
    after: valuesOf(after, rule),
  }));
  return entries.filter((entry) => JSON.stringify(entry.before) !== JSON.stringify(entry.after));
}

function valuesOf(rules: PolicyRules, rule: RuleName): readonly AuditValue[] {
  const value = rules[rule];
  if (value === undefined) return [];
  if (value === 'any') return [textOf('any')];
  const values = ruleValues(rules, rule);
  return values.length === 0 ? [textOf('none')] : values;
}

function ruleValues(rules: PolicyRules, rule: RuleName): readonly AuditValue[] {
  switch (rule) {
    case 'models':
    case 'resolutions':
      return listOf<string>(rules[rule]).map(textOf);
    case 'words': {
      const words = listOf<string>(rules.words);
      return words.length === 0 ? [] : [{ kind: 'note', text: words.join(', ') }];
    }
    case 'style':
      return [{ kind: 'note', text: rules.style ?? '' }];
    case 'seconds':
      return rules.seconds === 'any' ? [] : allowedSeconds(rules.seconds).map((words) => textOf(`${words} s`));
    case 'clips':
      return [textOf(String(rules.clips))];
    case 'create':
    case 'decide':
    case 'review':
      return listOf<Approver>(rules[rule]).map(({ kind, id, name }) =>
        kind === 'person' ? { kind, person: { id, name } } : { kind: 'role', role: id },
      );
    default:
      // A rule of a later version.
      return [textOf('…')];
  }
}

function listOf<Item>(value: readonly Item[] | 'any' | undefined): readonly Item[] {
  return value === undefined || value === 'any' ? [] : value;
}

function textOf(text: string): AuditValue {
  return { kind: 'text', text };
}
