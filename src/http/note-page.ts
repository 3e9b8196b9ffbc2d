/** Style of a page with a sentence and at most one form. */
export const NOTE_STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { display: grid; min-height: 90vh; place-items: center; margin: 1rem }
main { width: min(24rem, 100%); overflow-wrap: anywhere }
h1 { font-size: 1.4rem; margin: 0 0 .5rem }
label { display: block; font-weight: 600; margin-top: 1rem }
input, button { box-sizing: border-box; width: 100%; font: inherit; padding: .6rem .75rem; border-radius: .5rem; border: 1px solid GrayText }
button { margin-top: 1rem; border: 0; background: #3b5bdb; color: #fff; font-weight: 600; cursor: pointer }
:focus-visible { outline: 3px solid #748ffc; outline-offset: 2px }
`;

/** Escapes a text for HTML, in elements and quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
