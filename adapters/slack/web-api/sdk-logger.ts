import { LogLevel, type Logger as SdkLogger } from '@slack/bolt';
import type { Logger } from '#src/logger.ts';

/**
 * What the SDK wants to have logged: its warnings and errors. What it says below that holds whole payloads, with
 * prompts and addresses that work like a password.
 */
export function createSdkLogger(logger: Logger): SdkLogger {
  const said = (words: readonly unknown[]): string => words.map(wordOf).join(' ').slice(0, 500);
  return {
    debug: () => undefined,
    info: () => undefined,
    warn: (...words: unknown[]) => logger.debug({ sdk: said(words) }, 'the Slack SDK warns'),
    error: (...words: unknown[]) => logger.warn({ sdk: said(words) }, 'the Slack SDK reports an error'),
    setLevel: () => undefined,
    getLevel: () => LogLevel.WARN,
    setName: () => undefined,
  };
}

function wordOf(word: unknown): string {
  return word instanceof Error ? word.message : String(word);
}
