import htm from 'htm';
import { h } from 'preact';

/** Tagged template that creates Preact elements; interpolated values become text, never markup. */
export const html = htm.bind(h);
