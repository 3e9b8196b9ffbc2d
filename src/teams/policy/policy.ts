import { type Approver, type Origin, spendChannel } from '../../tasks/index.ts';
import {
  allowsModel,
  allowsResolution,
  allowsSeconds,
  type Catalog,
  listed,
  type Model,
  type Range,
  type ValueRules,
} from '../../videos/index.ts';

/** People, roles and user groups that a rule names; those who may administer the team always count. */
interface PeopleRules {
  /** Who may create clips. Default: everyone. */
  readonly create?: readonly Approver[];
  /** Who may decide on the clips of others: cancel, retry, send again. Default: those who manage the channel. */
  readonly decide?: readonly Approver[];
  /** Who may sign off clips or request changes. Default: everyone. */
  readonly review?: readonly Approver[];
}

/** Rules that apply somewhere. `any` lifts a rule; for `decide`, everyone may. */
export type PolicyRules = {
  readonly [Name in keyof (ValueRules & PeopleRules)]?: (ValueRules & PeopleRules)[Name] | 'any';
};

/** Value of a rule that is not lifted. */
export type RuleValue<Name extends RuleName> = Exclude<PolicyRules[Name], 'any' | undefined>;

/** Name of a rule. */
export type RuleName = keyof PolicyRules;

type PeopleRule = keyof PeopleRules;

/** What a team allows, with the rules of channels, each of which stands in place of the team's. */
export interface Policy {
  readonly team: PolicyRules;
  /** By channel id; threads have the rules of their channel. */
  readonly channels: Readonly<Record<string, PolicyRules>>;
}

/** Policy of a team without one. */
export const NO_POLICY: Policy = { team: {}, channels: {} };

/** Place of an order. */
export type PolicyPlace = Pick<Origin, 'channel' | 'parentChannel'>;

/** Returns the rules that apply in a channel or thread. */
export function rulesAt({ team, channels }: Policy, place: PolicyPlace): PolicyRules {
  return { ...team, ...channelRules({ channels }, spendChannel(place)) };
}

/** Returns a channel's own rules. */
export function channelRules({ channels }: Pick<Policy, 'channels'>, channel: string): PolicyRules {
  return (Object.hasOwn(channels, channel) ? channels[channel] : undefined) ?? {};
}

/** Returns the rules on values, without those that are lifted. */
export function valueRules(rules: PolicyRules): ValueRules {
  const limiting = Object.entries(rules).filter(([rule, value]) => value !== 'any' && !isAboutPeople(rule));
  return Object.fromEntries(limiting);
}

const PEOPLE_RULES: readonly PeopleRule[] = ['create', 'decide', 'review'];

function isAboutPeople(rule: string): rule is PeopleRule {
  return PEOPLE_RULES.some((one) => one === rule);
}

/** Returns a policy that names a person nowhere. A rule that named only them stays: then administrators alone count. */
export function policyWithout(policy: Policy, person: string): Policy {
  const without = (rules: PolicyRules): PolicyRules => {
    const left = (some: PolicyRules[PeopleRule]) =>
      some === 'any' ? some : some?.filter(({ kind, id }) => kind !== 'person' || id !== person);
    const named = Object.keys(rules).filter(isAboutPeople);
    return { ...rules, ...Object.fromEntries(named.map((rule) => [rule, left(rules[rule])])) };
  };
  const channels = Object.entries(policy.channels).map(([channel, rules]) => [channel, without(rules)] as const);
  return { ...policy, team: without(policy.team), channels: Object.fromEntries(channels) };
}

/** Returns the rules that name a person, with the channel of each; `null` for the team's. */
export function rulesNaming(
  { team, channels }: Policy,
  person: string,
): readonly { readonly rule: PeopleRule; readonly channel: string | null }[] {
  const isNamed = (some: PolicyRules[PeopleRule]): boolean =>
    some !== undefined && some !== 'any' && some.some(({ kind, id }) => kind === 'person' && id === person);
  const namesIn = (rules: PolicyRules, channel: string | null) =>
    PEOPLE_RULES.filter((rule) => isNamed(rules[rule])).map((rule) => ({ rule, channel }));
  return [...namesIn(team, null), ...Object.entries(channels).flatMap(([id, rules]) => namesIn(rules, id))];
}

/** Change of rules: `null` removes one, so that the default applies again, or the team's. */
export type RulesPatch = { readonly [Name in RuleName]?: PolicyRules[Name] | null };

/** Returns a policy with changed rules, of a channel or else of the team. */
export function changedPolicy(policy: Policy, channel: string | null, patch: RulesPatch): Policy {
  if (channel === null) return { ...policy, team: patched(policy.team, patch) };
  const { [channel]: own = {}, ...others } = policy.channels;
  const rules = patched(own, patch);
  return { ...policy, channels: Object.keys(rules).length === 0 ? others : { ...others, [channel]: rules } };
}

function patched(rules: PolicyRules, patch: RulesPatch): PolicyRules {
  return Object.fromEntries(Object.entries({ ...rules, ...patch }).filter(([, value]) => value !== null));
}

/**
 * Returns the catalog with what a policy allows of it: its models with their lengths and resolutions, and the first
 * allowed ones as defaults. What is withheld stays known, so that it is refused as not allowed. Where the policy leaves no
 * model at all, the models are shown as they are: every order is refused.
 */
export function allowedCatalog(catalog: Catalog, policy: ValueRules): Catalog {
  const all = catalog.models.map(({ whole, ...model }) => whole ?? model);
  const whole = [...all, ...(catalog.withheld ?? [])];
  const models = whole.flatMap((model) => narrowed(model, policy) ?? []);
  if (models.length === 0) return { ...catalog, policy };
  const names = new Set(models.map(({ name }) => name));
  const [first] = models;
  const usual = models.find(({ name }) => name === catalog.defaultModel.name) ?? first ?? catalog.defaultModel;
  return { models, defaultModel: usual, policy, withheld: whole.filter(({ name }) => !names.has(name)) };
}

/** Returns a model with its allowed values; `null` if it is not allowed, or none of its lengths or resolutions is. */
function narrowed(model: Model, rules: ValueRules): Model | null {
  const seconds = narrowedSeconds(model.seconds, rules);
  const resolutions = model.resolutions.filter((one) => allowsResolution(rules, one));
  const isLeft = seconds !== null && (resolutions.length > 0 || model.resolutions.length === 0);
  return isLeft && allowsModel(rules, model.name) ? { ...model, seconds, resolutions, whole: model } : null;
}

function narrowedSeconds(offer: Model['seconds'], rules: ValueRules): Model['seconds'] | null {
  if (rules.seconds === undefined) return offer;
  if ('min' in offer && 'max' in rules.seconds) return shortened(offer, rules.seconds.max);
  const left = 'min' in offer ? inRange(offer, rules) : offer.filter((one) => allowsSeconds(rules, one));
  return left.length === 0 ? null : left;
}

function shortened(offer: Range, max: number): Range | null {
  return max < offer.min ? null : { ...offer, max: Math.min(offer.max, max) };
}

/** Returns the allowed values of a range, of which a list allows only some. */
function inRange(offer: Range, rules: ValueRules): readonly number[] {
  return (listed(offer) ?? []).map(Number).filter((one) => allowsSeconds(rules, one));
}
