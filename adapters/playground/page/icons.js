import { html } from 'htm/preact';

const icon = (path) => () =>
  html`
  <svg viewBox="0 0 20 20" width="18" height="18" fill="none" stroke="currentColor" stroke-width="1.7"
    stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${path}</svg>
`;

export const SendIcon = icon(html`<path d="M10 16V4m-5 5 5-5 5 5" />`);
export const ReplyIcon = icon(html`<path d="M5 14V9a3 3 0 0 1 3-3h8" />`);
export const DownloadIcon = icon(html`<path d="M10 3v9m-4-3.5 4 4 4-4M4 16.5h12" />`);
export const EyeIcon = icon(
  html`<path d="M2 10s3-5.5 8-5.5S18 10 18 10s-3 5.5-8 5.5S2 10 2 10Z" /><circle cx="10" cy="10" r="2.3" />`,
);
export const DownIcon = icon(html`<path d="M10 4v12m-5-5 5 5 5-5" />`);
export const PlayIcon = icon(html`<path d="M6 4.5v11l9-5.5Z" fill="currentColor" />`);
export const CloseIcon = icon(html`<path d="m5 5 10 10M15 5 5 15" />`);
export const FilmIcon = icon(
  html`<rect x="2.5" y="4" width="15" height="12" rx="2" /><path d="M6.5 4v12M13.5 4v12M2.5 10h4M13.5 10h4" />`,
);
const RepeatIcon = icon(html`<path d="M15.5 8A6 6 0 0 0 4.7 7M4.5 12a6 6 0 0 0 10.8 1M4.5 3.5V7H8M15.5 16.5V13H12" />`);
const CrossIcon = icon(html`<path d="m5.5 5.5 9 9m0-9-9 9" stroke-width="2.4" />`);

/** The two reactions with a meaning are drawn, so that they look the same with any font. */
const DRAWN = { '🔁': RepeatIcon, '❌': CrossIcon };

export function Emoji({ emoji }) {
  const Drawn = DRAWN[emoji];
  return Drawn === undefined
    ? emoji
    : html`<span class=${emoji === '❌' ? 'emoji cross' : 'emoji'}><${Drawn} /></span>`;
}
