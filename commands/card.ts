import type { MessageRef } from '#src/chat/platform.ts';

/** A piece of a line. What came from outside is marked, so that each adapter shows it as text and nothing else. */
export type Part =
  /** Ours: shown as it is. */
  | string
  /** From a person or a service: escaped, pings nobody, formats nothing, opens no link. */
  | { readonly untrusted: string }
  | { readonly strong: string }
  /** To be copied or typed: an id, a command. */
  | { readonly code: string }
  /** A moment, shown relative and in the reader's zone. */
  | { readonly timeMs: number }
  /** A person by name, without a ping. */
  | { readonly person: { readonly id: string; readonly name: string } }
  /** A person, with a ping. */
  | { readonly mention: { readonly id: string; readonly name: string } }
  /** An address of ours, to open. */
  | { readonly link: string; readonly label: string }
  /** A message of ours, to jump to; where the platform has no way to, the label alone. */
  | { readonly message: MessageRef; readonly label: string }
  /** A channel by its id, shown as the platform names it. */
  | { readonly channel: string };

export type Line = readonly Part[];

/** A button as shown. */
export interface CardButton {
  /** At most 100 characters. */
  readonly id: string;
  /** At most 80 characters. */
  readonly label: string;
  readonly style: 'primary' | 'plain' | 'danger';
}

/** What a message says, in words but in no platform's markup. The first line never moves. */
export interface Card {
  readonly lines: readonly Line[];
  /** A bar from 0 to 100; `null` for none. */
  readonly progress: number | null;
  readonly buttons: readonly CardButton[];
}
