/** Reply to the removal of an unknown name. */
export function noSuchImage(name: string, meant: string | null): string {
  return `There is no @${name} in the library.${meant === null ? '' : ` Did you mean @${meant}?`}`;
}
