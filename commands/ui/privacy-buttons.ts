/** Press of a button that confirms the erasure of a person: of the caller, or by an administrator of another one. */
export type PrivacyPress =
  | { readonly action: 'privacy'; readonly what: 'forget' }
  | { readonly action: 'privacy'; readonly what: 'erase'; readonly user: string };

/** Longest id of a button on every platform. */
const MAX_ID_LENGTH = 100;

/** Id of the button that confirms that the caller is to be forgotten. */
export const FORGET_BUTTON = 'privacy:forget';

/** Returns the id of the button that confirms the erasure of a person; `null` if it would be too long. */
export function eraseButtonId(user: string): string | null {
  const id = `privacy:erase:${user}`;
  return id.length > MAX_ID_LENGTH ? null : id;
}

/** Parses the id of such a button; `null` for any other. */
export function parsePrivacyButton(id: string): PrivacyPress | null {
  if (id === FORGET_BUTTON) return { action: 'privacy', what: 'forget' };
  const user = /^privacy:erase:(.+)$/su.exec(id)?.[1];
  return user === undefined ? null : { action: 'privacy', what: 'erase', user };
}
