import { type Clock, within } from '../clock.ts';
import type { Config } from '../config/index.ts';
import { createEnhancer, type Enhanced, type EnhancerFailure } from '../enhancer/index.ts';
import type { Logger } from '../logger.ts';
import { CHECK_TIMEOUT_MS, type Finding, type Findings, ok, warning, wrong } from './diagnosis.ts';

const PROMPT = 'a red fox in snow';
const TIMEOUT_MS = CHECK_TIMEOUT_MS - 1_000;
const MAX_LENGTH = 1_500;

/** Has the service of `ENHANCER_URL` improve one short prompt, as a press of **Improve** does. It may bill that request. */
export async function checkEnhancer(
  { enhancer: config }: Pick<Config, 'enhancer'>,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): Promise<Findings> {
  if (config === undefined) return null;
  const enhancer = createEnhancer(config, { clock, logger, improved: () => undefined });
  const late: Enhanced = { ok: false, reason: 'timed_out' };
  const asked = enhancer.enhance({ prompt: PROMPT, maxLength: MAX_LENGTH, person: 'doctor' });
  const enhanced = await within(clock, TIMEOUT_MS, asked, late);
  const { origin } = new URL(config.url);
  if (!enhanced.ok) return meaningOf(enhanced.reason, origin, config.model);
  return ok(`${origin} improves prompts with ${config.model}`);
}

/** Says what a failure means, and which variable to correct. */
function meaningOf(reason: EnhancerFailure, origin: string, model: string): Finding {
  switch (reason) {
    case 'unauthorised':
      return wrong(`${origin} refuses the token`, 'Put a valid key of that service into ENHANCER_TOKEN.');
    case 'failed':
      return wrong(
        `${origin} refuses the request`,
        `Check that it has the model ${model} (ENHANCER_MODEL), and the path of ENHANCER_URL.`,
      );
    case 'bad_answer':
      return wrong(
        `${origin} answers something else than chat completions do`,
        'Check ENHANCER_URL: it is the base of an OpenAI-compatible service, such as https://api.openai.com/v1.',
      );
    case 'unavailable':
      return wrong(
        `${origin} cannot be reached, or fails`,
        'Check ENHANCER_URL, the network and the service’s status page.',
      );
    case 'timed_out':
      return warning(
        `${origin} did not answer within ${TIMEOUT_MS / 1_000} s`,
        'Try again, or set a faster ENHANCER_MODEL: Improve gives up after 15 s.',
      );
    case 'rate_limited':
    case 'busy':
      return warning(`${origin} answers, but limits the rate`, 'Wait a minute, then run this again.');
    case 'empty':
    case 'cut_off':
    case 'withheld':
    case 'too_long':
      return warning(
        `${origin} answers, but ${model} gave no usable prompt (${reason})`,
        'Run this again. If it stays, set another ENHANCER_MODEL.',
      );
  }
}
