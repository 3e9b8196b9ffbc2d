/** Statement, mapping or option that cannot be used; `message` is one sentence for the person who ran the command. */
export class StatementError extends Error {
  override readonly name = 'StatementError';
}
