import { beforeEach, expect, it } from 'vitest';
import { AuditTrail } from '#src/teams/audit/audit.ts';
import { DEFAULT_SETTINGS, type SettingsPatch } from '#src/teams/settings-schema.ts';
import { pauseAt, TeamSettingsRepository } from '#src/teams/team-settings.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';

const TEAM = { platform: 'slack', team: 'T1' };
const ADA = { id: 'U1', name: 'Ada' };
const BY_ADA = { person: ADA, surface: 'command' } as const;
const usd = (amount: string) => ({ amount, currency: 'USD' });

let audit: AuditTrail;
let settings: TeamSettingsRepository;

beforeEach(() => {
  const store = new MemoryStore();
  audit = new AuditTrail(store, new ManualClock(0));
  settings = new TeamSettingsRepository(store, audit);
});

const logged = async () => (await audit.page(TEAM, { offset: 0, limit: 100 })).entries;

it('are defaults until they are changed, for each team alone', async () => {
  const defaults = {
    revision: 0,
    timeZone: 'UTC',
    alerts: true,
    aiLabel: false,
    signOffOwn: true,
    keepSignedOff: false,
  };
  expect(await settings.get(TEAM)).toEqual(defaults);
  await settings.change({ ...TEAM, team: 'T2' }, BY_ADA, { timeZone: 'Europe/Berlin' });
  expect(await settings.get(TEAM)).toEqual(defaults);
  expect(await settings.get({ ...TEAM, team: 'T2' })).toEqual({ ...defaults, revision: 1, timeZone: 'Europe/Berlin' });
});

it.each([
  ['time_zone', { timeZone: 'Europe/Berlin' }],
  ['currency', { currency: 'EUR' }],
  ['confirm_above', { confirmAbove: usd('1') }],
  ['approve_above', { approveAbove: usd('2') }],
  ['report_channel', { reportChannel: 'C1' }],
  ['alerts', { alerts: false }],
  ['ai_label', { aiLabel: true }],
  ['unusual_spend', { unusualSpend: usd('20') }],
  ['keep_clips', { keepClips: { days: 90, fromMs: 1 } }],
  ['keep_prompts', { keepPrompts: { days: 365, fromMs: 1 } }],
  ['review', { reviewIn: ['C1'] }],
  ['sign_off_own', { signOffOwn: false }],
  ['signed_off_channel', { signedOffChannel: 'C1' }],
  ['keep_signed_off', { keepSignedOff: true }],
  ['policy', { policy: { team: {}, channels: { C1: { clips: 2 } } } }],
  ['style', { styles: [{ name: 'house', before: 'ink' }] }],
  ['pause', { pause: { reason: 'too much', by: ADA, atMs: 1, untilMs: 9 } }],
] as const satisfies readonly (readonly [string, SettingsPatch])[])(
  'a change of %s is kept with one entry, and removed with another',
  async (action, patch) => {
    expect(await settings.change(TEAM, BY_ADA, patch)).toMatchObject(patch);
    expect(await settings.get(TEAM)).toMatchObject({ ...patch, revision: 1 });
    const [set] = await logged();
    expect(set).toMatchObject({ number: 1, action, by: ADA, surface: 'command' });
    expect(set?.after).not.toEqual(set?.before);
    await settings.change(TEAM, BY_ADA, patch);
    expect(await logged()).toHaveLength(1);
    const removal = Object.fromEntries(Object.keys(patch).map((key) => [key, null]));
    await settings.change(TEAM, BY_ADA, removal);
    expect(await settings.get(TEAM)).toEqual({ ...DEFAULT_SETTINGS, revision: 2 });
    expect(await logged()).toHaveLength(2);
    expect((await logged())[0]).toMatchObject({ action, before: set?.after, after: set?.before });
  },
);

it('changed together have an entry each, in one commit', async () => {
  await settings.change(TEAM, BY_ADA, { timeZone: 'Asia/Tokyo', currency: 'EUR', alerts: true });
  expect((await logged()).map(({ action }) => action)).toEqual(['currency', 'time_zone']);
  expect(await settings.get(TEAM)).toMatchObject({ revision: 1 });
});

it('changed at once by many are all kept', async () => {
  const patches: readonly SettingsPatch[] = [{ timeZone: 'Asia/Tokyo' }, { currency: 'EUR' }, { alerts: false }];
  await Promise.all(patches.map((patch) => settings.change(TEAM, BY_ADA, patch)));
  expect(await settings.get(TEAM)).toMatchObject({ timeZone: 'Asia/Tokyo', currency: 'EUR', alerts: false });
  expect(await audit.verify(TEAM)).toEqual({ ok: true, entries: 3 });
});

it('pause until the given time, or until the end', () => {
  const pause = { reason: '', by: ADA, atMs: 0 };
  const defaults = { timeZone: 'UTC' };
  expect(pauseAt(defaults, 5)).toBeNull();
  expect(pauseAt({ ...defaults, pause }, 5)).toEqual({ ...pause, timeZone: 'UTC' });
  expect(pauseAt({ ...defaults, pause: { ...pause, untilMs: 6 } }, 5)).toMatchObject({ untilMs: 6 });
  expect(pauseAt({ ...defaults, pause: { ...pause, untilMs: 6 } }, 6)).toBeNull();
});
