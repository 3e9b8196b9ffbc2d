import htm from 'htm';
import { h } from 'preact';

/** Templates that make Preact elements: what is put into them becomes text, never markup. */
export const html = htm.bind(h);
