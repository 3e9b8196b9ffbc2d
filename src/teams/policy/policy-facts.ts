import type { Approver } from '../../tasks/index.ts';
import { allowedSeconds } from '../../videos/index.ts';
import type { AuditFact, AuditValue } from '../audit/audit-entry.ts';
import type { Policy, PolicyRules, RuleName } from './policy.ts';

/** Returns the rules of a policy, as the audit log has them. */
export function policyFacts({ team, channels }: Policy): readonly AuditFact[] {
  const factsOf = (rules: PolicyRules, place: readonly AuditValue[]): readonly AuditFact[] =>
    (Object.keys(rules) as RuleName[]).map((rule) => ({
      subject: [textOf(rule), ...place],
      values: valuesOf(rules, rule),
    }));
  return [
    ...factsOf(team, []),
    ...Object.entries(channels).flatMap(([channel, rules]) => factsOf(rules, [{ kind: 'channel', channel }])),
  ];
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
