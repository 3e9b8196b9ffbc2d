import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Workspaces } from '#adapters/slack/installation/workspaces.ts';
import type { Admission } from '#adapters/slack/interactions/admission.ts';
import { Home } from '#adapters/slack/interactions/home.ts';
import type { Clients } from '#adapters/slack/web-api/client.ts';
import { HOME_WORDS } from '#commands/sentences/forms.ts';
import { LocalBroadcast } from '#src/engine/cluster/broadcast.ts';
import { ada, bob } from '#test/fakes/bot-house.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { privately, ScriptedBot } from '#test/fakes/scripted-bot.ts';
import { pass } from '#test/fakes/settle.ts';

const TO = { team: 'T1', enterprise: undefined };
const MEMBER: Admission = { refusal: null, isExternal: false, mayAdminister: false };
const HOUR_MS = 3_600_000;

let clock: ManualClock;
let bot: ScriptedBot;
let broadcast: LocalBroadcast;
let published: { readonly team: string; readonly user: string }[];
let admissions: Map<string, Admission | Error>;

beforeEach(() => {
  clock = new ManualClock();
  bot = new ScriptedBot();
  bot.reply = privately('nothing');
  broadcast = new LocalBroadcast();
  published = [];
  admissions = new Map();
});

/** Creates the Home tabs of one replica. */
function replica(): Home {
  const answer = async ({ team }: { readonly team: string }, _operation: string, run: (client: object) => unknown) =>
    run({
      views: {
        publish: async (view: { readonly user_id: string }) => published.push({ team, user: view.user_id }),
      },
    });
  return new Home({
    bot,
    clients: { answer } as unknown as Clients,
    workspaces: { of: async () => ({ url: null }) } as unknown as Workspaces,
    broadcast,
    clock,
    logger: pino({ level: 'silent' }),
    admission: async (_to, user) => {
      const found = admissions.get(user) ?? MEMBER;
      if (found instanceof Error) throw found;
      return found;
    },
  });
}

/** Reports a change of a request on a replica, and returns the tabs that are published because of it. */
async function changed(home: Home, team = 'T1'): Promise<readonly string[]> {
  published.length = 0;
  home.changed({ team });
  await pass(clock, 2_000, 250);
  return published.map((one) => `${one.team}:${one.user}`);
}

describe('after a request or a decision', () => {
  it('the tabs of the workspace are published again on every replica, once each', async () => {
    const [one, other] = [replica(), replica()];
    await one.show(TO, ada());
    await other.show(TO, bob());
    await other.show({ ...TO, team: 'T2' }, bob({ team: 'T2' }));
    for (const home of [one, other]) home.changed(TO);
    expect(await changed(one)).toEqual(['T1:U1', 'T1:U2']);
    expect(await changed(one, 'T2')).toEqual(['T2:U2']);
  });

  it('a tab shows what its user may see now, and nothing to one without access', async () => {
    const home = replica();
    await home.show(TO, ada({ mayAdminister: true, acknowledged: async () => true }));
    bot.heard.length = 0;
    await changed(home);
    expect(bot.heard.map(({ caller }) => caller.mayAdminister)).toEqual([false, false, false, false]);
    expect(bot.heard[0]?.caller.acknowledged).toBeUndefined();
    admissions.set('U1', { ...MEMBER, refusal: { reason: 'guest' } });
    expect(await changed(home)).toEqual([]);
    admissions.clear();
    expect(await changed(home)).toEqual([]);
  });

  it('a failed update of one tab does not keep the others from theirs', async () => {
    const home = replica();
    await home.show(TO, ada());
    await home.show(TO, bob());
    admissions.set('U1', new Error('no answer'));
    expect(await changed(home)).toEqual(['T1:U2']);
    admissions.clear();
    expect(await changed(home)).toEqual(['T1:U1', 'T1:U2']);
  });

  it('a tab that was opened hours ago is taken for closed', async () => {
    const home = replica();
    await home.show(TO, ada());
    clock.advance(7 * HOUR_MS);
    expect(await changed(home)).toEqual(['T1:U1']);
    clock.advance(HOUR_MS);
    expect(await changed(home)).toEqual([]);
  });

  it('nothing is published once the tabs are stopped', async () => {
    const home = replica();
    await home.show(TO, ada());
    home.changed(TO);
    home.stop();
    expect(await changed(home)).toEqual([]);
  });
});

it('a tab begins with where an order can be typed: a private channel needs the bot first', () => {
  expect(HOME_WORDS.start).toContain('private channels need an /invite first');
});
