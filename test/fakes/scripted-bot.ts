import type { Addressing, Bot, Caller, GivenOptions, Reply, Suggestion } from '#commands/bot-port.ts';
import { declarations } from '#commands/registry.ts';
import type { Card } from '#commands/ui/card.ts';
import type { MessageRef } from '#src/chat/platform.ts';
import type { TaskId } from '#src/tasks/task.ts';

/** A call that an adapter made to the bot. */
export interface Heard {
  readonly kind: 'command' | 'text' | 'form' | 'home' | 'press' | 'react' | 'submit';
  readonly caller: Caller;
  readonly what: unknown;
  /** Addressing of a text. */
  readonly addressing?: Addressing;
  readonly files?: GivenOptions;
}

/** A bot that records the calls of adapters and returns a scripted reply. */
export class ScriptedBot implements Bot {
  readonly commands = declarations;
  readonly commandsFor = async ({ mayAdminister }: Caller) =>
    declarations.filter(({ isAdministrative }) => mayAdminister || isAdministrative !== true);
  readonly heard: Heard[] = [];
  /** Reply to every call; an error is thrown. */
  reply: Reply | null | Error = privately('Yes.');
  suggestions: readonly Suggestion[] = [];
  /** Shows a task; tests set this to the platform's `open`. */
  onShow: (task: TaskId) => Promise<MessageRef> = () => Promise.reject(new TypeError('nothing is to be shown'));
  /** Default: none, so that a platform falls back to the catalog of all. */
  catalogFor: Bot['catalogFor'] = () => Promise.reject(new TypeError('no catalog of a person'));
  /** Cards of every home page. */
  homeCards: readonly Card[] = [{ lines: [['Home']], progress: null, buttons: [] }];
  /** Delays every reply until it resolves. */
  gate: Promise<void> = Promise.resolve();

  urgently<Result>(work: () => Promise<Result>): Promise<Result> {
    return work();
  }

  async removed(): Promise<null> {
    return null;
  }

  command(caller: Caller, name: string, given: unknown): Promise<Reply> {
    return this.#answer({ kind: 'command', caller, what: { name, given } });
  }

  text(caller: Caller, text: string, addressing: Addressing = 'command', files: GivenOptions = {}): Promise<Reply> {
    return this.#answer({ kind: 'text', caller, what: text, addressing, files });
  }

  form(caller: Caller, script?: string): Promise<Reply> {
    return this.#answer({ kind: 'form', caller, what: script ?? null });
  }

  async home(caller: Caller): Promise<readonly Card[]> {
    this.heard.push({ kind: 'home', caller, what: null });
    return this.homeCards;
  }

  press(caller: Caller, button: string): Promise<Reply> {
    return this.#answer({ kind: 'press', caller, what: button });
  }

  async react(caller: Caller, message: MessageRef, emoji: string): Promise<Reply | null> {
    const heard = { kind: 'react', caller, what: { message, emoji } } as const;
    if (this.reply !== null) return this.#answer(heard);
    this.heard.push(heard);
    return null;
  }

  submit(caller: Caller, form: string, values: unknown): Promise<Reply> {
    return this.#answer({ kind: 'submit', caller, what: { form, values } });
  }

  suggest(): Promise<readonly Suggestion[]> {
    return Promise.resolve(this.suggestions);
  }

  show(task: TaskId): Promise<MessageRef> {
    return this.onShow(task);
  }

  async #answer(heard: Heard): Promise<Reply> {
    this.heard.push(heard);
    await this.gate;
    if (this.reply instanceof Error) throw this.reply;
    if (this.reply === null) throw new TypeError('null answers reactions alone');
    return this.reply;
  }
}

/** Creates a private reply to the caller. */
export function privately(sentence: string): Reply {
  return { kind: 'private', card: { lines: [[sentence]], progress: null, buttons: [] } };
}
