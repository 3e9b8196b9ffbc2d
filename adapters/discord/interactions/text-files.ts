import type { GivenOptions } from '#commands/bot-port.ts';
import { noTextFile, textNotRead } from '#commands/sentences/attachments.ts';
import { asDailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import { isTextFile, readTextFile } from '#src/media/index.ts';
import { TEXT_OPTION } from '../registration/commands.ts';
import type { GivenAttachment } from './options.ts';

/** Separates the text files of a command from its reference files. */
export function separated(
  given: readonly GivenAttachment[],
): readonly [texts: readonly GivenAttachment[], media: readonly GivenAttachment[]] {
  const isText = ({ option }: GivenAttachment): boolean => option === TEXT_OPTION;
  return [given.filter(isText), given.filter((one) => !isText(one))];
}

/** Reads a text file as the option that takes several lines; none without a file. Never rejects. */
export async function textOf(
  given: GivenAttachment | undefined,
  logger: Logger,
): Promise<{ readonly options: GivenOptions } | { readonly wrong: string }> {
  if (given === undefined) return { options: {} };
  const { url, filename: name, content_type: contentType } = given.attachment;
  if (!isTextFile({ name, contentType })) return { wrong: noTextFile(TEXT_OPTION, name) };
  try {
    return { options: { shots: [await readTextFile({ url })] } };
  } catch (thrown) {
    const error = asDailiesError(thrown, 'fetching a text file from Discord');
    logger.warn({ event: 'discord_text_file_failed', err: error }, 'failed to fetch a text file from Discord');
    return { wrong: textNotRead(TEXT_OPTION, name, error) };
  }
}
