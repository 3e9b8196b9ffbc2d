import { webApi } from '@slack/bolt';
import { expect, it } from 'vitest';
import { translate } from '#adapters/slack/web-api/errors.ts';

function refusal(error: string): Error {
  return new webApi.WebAPIPlatformError({ ok: false, error });
}

it.each(['cannot_dm_bot', 'user_disabled', 'user_not_found'])(
  'tells a person who takes no direct message: %s',
  (code) => {
    expect(translate(refusal(code), 'opening a direct message')).toMatchObject({
      retryable: false,
      isUnreachable: true,
    });
  },
);

it.each(['file_uploads_disabled', 'storage_limit_reached', 'restricted_action'])(
  'takes other refusals for none of a person: %s',
  (code) => {
    const error = translate(refusal(code), 'showing a clip');
    expect(error).toMatchObject({ code: 'missing_permission', isUnreachable: false });
  },
);
