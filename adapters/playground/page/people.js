import { html } from 'htm/preact';

/** User who may decide on everyone's orders. */
export const MANAGER = 'operator';

/** Avatar of a user: the initials, in a colour derived from the name. */
export function Initials({ name }) {
  const letters = name
    .split(/[\s_.-]+/)
    .filter(Boolean)
    .map((word) => [...word][0])
    .slice(0, 2)
    .join('');
  const hue = [...name].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) % 360, 7);
  return html`<span class="initials" style=${{ '--hue': String(hue) }} aria-hidden="true">${letters.toUpperCase()}</span>`;
}
