/** Matches a line of a storyboard that is no shot. */
export const COMMENT = /^\s*(?:#|\/\/)/u;

export function commentsIn(script: string): number {
  return script.split('\n').filter((line) => COMMENT.test(line)).length;
}
