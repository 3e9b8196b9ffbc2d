import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Workspaces } from '#adapters/slack/installation/workspaces.ts';
import type { Admission } from '#adapters/slack/interactions/admission.ts';
import { Home } from '#adapters/slack/interactions/home.ts';
import type { Clients } from '#adapters/slack/web-api/client.ts';
import { EMPTY_HOME } from '#commands/home.ts';
import { type Card, item, layOut, linesOf, textCard } from '#commands/ui/card.ts';
import { LocalBroadcast } from '#src/engine/cluster/broadcast.ts';
import { ada, bob } from '#test/fakes/bot-house.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { ScriptedBot } from '#test/fakes/scripted-bot.ts';
import { deferred, pass, settle } from '#test/fakes/settle.ts';

const TO = { team: 'T1', enterprise: undefined };
const MEMBER: Admission = { refusal: null, isExternal: false, mayAdminister: false };
const HOUR_MS = 3_600_000;

let clock: ManualClock;
let bot: ScriptedBot;
let broadcast: LocalBroadcast;
let published: {
  readonly team: string;
  readonly user: string;
  readonly blocks: number;
  readonly content: string;
}[];
let admissions: Map<string, Admission | Error>;

beforeEach(() => {
  clock = new ManualClock();
  bot = new ScriptedBot();
  broadcast = new LocalBroadcast();
  published = [];
  admissions = new Map();
});

/** Creates the Home tabs of one replica. */
function replica(): Home {
  const answer = async ({ team }: { readonly team: string }, _operation: string, run: (client: object) => unknown) =>
    run({
      views: {
        publish: async ({ user_id: user, view }: { user_id: string; view: { blocks: readonly unknown[] } }) =>
          published.push({ team, user, blocks: view.blocks.length, content: JSON.stringify(view.blocks) }),
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

let changes = 0;

/** Changes what all tabs show. */
function change(): void {
  changes += 1;
  bot.homeCards = [textCard([`change ${changes}`])];
}

/** Reports a change of a request on a replica, and returns the tabs that are published because of it. */
async function changed(home: Home, team = 'T1'): Promise<readonly string[]> {
  published.length = 0;
  change();
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
    expect(bot.heard.map(({ kind, caller }) => [kind, caller.mayAdminister])).toEqual([['home', false]]);
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

  it('a tab is not published again for new links to the same pictures', async () => {
    const home = replica();
    const row = (signature: number, text: string) => {
      const url = `https://bot.example/media/task-1.jpg?${signature}`;
      return [layOut([item([text], [], undefined, { id: 'task-1', url, alt: 'a frame' })])];
    };
    bot.homeCards = row(1, 'a fox');
    await home.show(TO, ada());
    published.length = 0;
    for (const cards of [row(2, 'a fox'), row(3, 'a hen')]) {
      bot.homeCards = cards;
      home.changed(TO);
      await pass(clock, 2_000, 250);
    }
    expect(published).toHaveLength(1);
  });

  it('nothing is published once the tabs are stopped', async () => {
    const home = replica();
    await home.show(TO, ada());
    home.changed(TO);
    home.stop();
    expect(await changed(home)).toEqual([]);
  });
});

describe('after a clip of one user', () => {
  const tabs = () => published.map(({ user }) => user);

  it('that user’s tab is published again at once, and those of others, who may cancel it, within a minute', async () => {
    const home = replica();
    await home.show(TO, ada());
    await home.show(TO, bob());
    published.length = 0;
    change();
    home.changed(TO, 'U1');
    await pass(clock, 2_000, 250);
    expect(tabs()).toEqual(['U1']);
    home.changed(TO, 'U1');
    change();
    await pass(clock, 60_000, 500);
    expect(tabs()).toEqual(['U1', 'U1', 'U2']);
  });

  it('a tab that shows the same as before is not published', async () => {
    const home = replica();
    await home.show(TO, ada());
    published.length = 0;
    home.changed(TO, 'U1');
    await pass(clock, 60_000, 500);
    expect(tabs()).toEqual([]);
    await home.show(TO, ada());
    expect(tabs()).toEqual(['U1']);
  });

  it('nothing is planned where no tab is shown', async () => {
    const home = replica();
    await home.show({ ...TO, team: 'T2' }, bob({ team: 'T2' }));
    bot.heard.length = 0;
    home.changed(TO, 'U1');
    await pass(clock, 60_000, 500);
    expect(bot.heard).toEqual([]);
  });
});

it('a tab that is published twice at a time ends up with the latest content', async () => {
  const home = replica();
  const earlier = deferred<readonly Card[]>();
  bot.home = () => earlier.promise;
  const first = home.show(TO, ada());
  await settle();
  bot.home = async () => [textCard(['Nothing waits.'])];
  const second = home.show(TO, ada());
  await settle();
  earlier.resolve([textCard(['One request waits.'])]);
  await Promise.all([first, second]);
  expect(published.at(-1)?.content).toContain('Nothing waits.');
});

it('a tab of a forgotten user stays empty, also where it was being updated', async () => {
  const home = replica();
  await home.show(TO, ada());
  const read = deferred();
  bot.home = () => read.promise.then(() => [textCard(['A red fox.'])]);
  home.changed(TO, 'U1');
  await pass(clock, 2_000, 250);
  const forgotten = home.forget(TO, 'U1');
  await settle();
  read.resolve();
  await forgotten;
  await settle();
  expect(published.at(-1)?.content).not.toContain('A red fox.');
});

it('a tab has at most 100 blocks', async () => {
  bot.homeCards = Array.from({ length: 80 }, (_, at) => textCard([`card ${at}`]));
  await replica().show(TO, ada());
  expect(published.map(({ blocks }) => blocks)).toEqual([100]);
});

it('a tab begins with where an order can be typed: a private channel needs the bot first', () => {
  expect(linesOf(EMPTY_HOME).flat()).toContainEqual(expect.stringContaining('private channels need an /invite first'));
});
