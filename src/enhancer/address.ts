import { DailiesError } from '../errors.ts';
import { isLoopbackHost } from '../videos/index.ts';

const PATH = '/chat/completions';

/**
 * Returns the address of a service's chat completions, of its base (`https://api.openai.com/v1`) or whole. A base without a
 * path gets `/v1`. HTTPS, or http for loopback hosts.
 * @throws DailiesError `refused_address`, with the problem in its message.
 * @see https://platform.openai.com/docs/api-reference/chat/create
 */
export function completionsUrl(text: string): URL {
  const refuse = (why: string): never => {
    throw new DailiesError(`the enhancer’s address ${why}`, { code: 'refused_address', retryable: false });
  };
  const url = URL.canParse(text) ? new URL(text) : refuse('is no URL');
  if (url.username !== '' || url.password !== '') refuse('must not hold credentials');
  const isLoopback = url.protocol === 'http:' && isLoopbackHost(url.hostname);
  if (url.protocol !== 'https:' && !isLoopback)
    refuse('must begin with https:// (http:// is for loopback hosts alone)');
  if (url.search !== '' || url.hash !== '') refuse('must have neither query nor fragment');
  const path = url.pathname.replace(/\/+$/, '');
  url.pathname = path.endsWith(PATH) ? path : `${path === '' ? '/v1' : path}${PATH}`;
  return url;
}
