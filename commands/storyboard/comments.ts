/** Matches a line of a storyboard that is no shot. */
export const COMMENT = /^\s*(?:#|\/\/)/u;
