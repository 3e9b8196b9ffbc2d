import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, vi } from 'vitest';
import type { FakeDiscord, Interaction, Message } from './discord/index.ts';
import { plainOf } from './discord-house.ts';
import type { FakeVideoService } from './video-service.ts';

const WITHIN = { timeout: 300_000, interval: 25 };

/** Path of the ffmpeg binary from npm. */
export const ffmpeg = createRequire(import.meta.url).resolve('@ffmpeg-installer/linux-x64/ffmpeg');

/** Creates a playable clip, padded to the size by a box that players skip. */
export async function realClip(dir: string, bytes: number): Promise<Buffer> {
  const path = join(dir, 'real.mp4');
  const source = ['-f', 'lavfi', '-i', 'testsrc=s=320x180:r=12:d=2', '-pix_fmt', 'yuv420p', '-c:v', 'libx264'];
  await promisify(execFile)(ffmpeg, ['-y', '-loglevel', 'error', ...source, path]);
  const clip = await readFile(path);
  const filler = Buffer.alloc(Math.max(8, bytes - clip.length));
  filler.writeUInt32BE(filler.length, 0);
  filler.write('free', 4, 'latin1');
  return Buffer.concat([clip, filler]);
}

/** Keeps every task of the video service at 33 % until the returned function is called. */
export function keepRunning(upstream: FakeVideoService): () => void {
  const right = upstream.handlers.retrieve;
  upstream.handlers.retrieve = (call) => {
    if (call.task !== undefined) call.task.polls = 0;
    right(call);
  };
  return () => {
    upstream.handlers.retrieve = right;
  };
}

/** Waits for messages on the fake Discord while the program runs. */
export class Onlooker {
  readonly #discord: FakeDiscord;

  constructor(discord: FakeDiscord) {
    this.#discord = discord;
  }

  /** Waits for the bot, then has alice request a clip. */
  async create(...[options, circumstances]: CreateArguments): Promise<Interaction> {
    const { discord } = this;
    await discord.botReady();
    return discord.people.slash('video create', options ?? { prompt: 'a red fox in snow' }, circumstances);
  }

  /** Returns the message of a task once it has text. */
  async card(interaction: Interaction): Promise<Message> {
    const { discord } = this;
    const card = (): Message | null => discord.original(interaction);
    await discord.until(() => plainOf(card() ?? NOTHING) !== '', `a card for ${interaction.id}`);
    return card() ?? NOTHING;
  }

  /** Waits until a message contains the words. */
  async says(id: string, words: string): Promise<Message> {
    const { discord } = this;
    await vi.waitFor(() => expect(plainOf(discord.message(id))).toContain(words), WITHIN);
    return discord.message(id);
  }

  /** Waits until a message has its clip attached. */
  async delivered(id: string): Promise<Message> {
    const { discord } = this;
    await vi.waitFor(() => expect(discord.message(id).attachments).toHaveLength(1), WITHIN);
    return discord.message(id);
  }

  /** Waits for the mention of a user at the end and returns its message. */
  async mentioned(user: string, times = 1): Promise<Message> {
    const { discord } = this;
    const pings = () => discord.pings.filter(({ id }) => id === user);
    await vi.waitFor(() => expect(pings()).toHaveLength(times), WITHIN);
    return discord.message(pings().at(-1)?.messageId ?? '');
  }

  get discord(): FakeDiscord {
    return this.#discord;
  }
}

type CreateArguments = Partial<
  [Parameters<FakeDiscord['people']['slash']>[1], Parameters<FakeDiscord['people']['slash']>[2]]
>;

const NOTHING = { content: '', components: [] } as unknown as Message;
