import { DailiesError } from '../errors.ts';

/**
 * Makes the bot's HTTP server listen on `HOST` and `PORT`. @returns the address, `http://HOST:PORT`.
 * @throws `internal` where it cannot; the message says which of the two to change.
 */
export async function listen(
  http: { readonly listen: (at: { readonly host: string; readonly port: number }) => Promise<string> },
  at: { readonly host: string; readonly port: number },
): Promise<string> {
  try {
    return await http.listen(at);
  } catch (thrown) {
    const { code = 'unknown', message } = thrown as NodeJS.ErrnoException;
    const sentence = SENTENCES[code] ?? message;
    throw new DailiesError(`listening at ${at.host}:${at.port}: ${sentence} (${code})`, {
      code: 'internal',
      retryable: false,
      cause: thrown,
    });
  }
}

const NOT_HERE = 'HOST is not an address of this machine';
/** @see https://nodejs.org/api/errors.html#common-system-errors */
const SENTENCES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program uses that port; stop it, or set PORT to another one',
  EADDRNOTAVAIL: NOT_HERE,
  ENOTFOUND: NOT_HERE,
  EACCES: 'this user may not use that port; set PORT to one from 1024 on',
};
