import { z } from 'zod';
import { type Json, Refusal } from './refusal.ts';

/**
 * Validates a body against a schema.
 * @param what name of the body in the violation, e.g. `message`.
 * @throws Refusal 400, 50035, with the tree of invalid fields, counted as a violation.
 */
export function checked<Schema extends z.ZodType>(schema: Schema, body: unknown, what: string): z.output<Schema> {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const { issues } = result.error;
  const said = issues.map(({ path, message }) => `${path.join('.')} ${message}`.trim()).join('; ');
  throw new Refusal(400, 50035, { violation: `invalid ${what}: ${said}`, errors: tree(issues) });
}

/** Creates a 50035 for one field, counted as a violation. */
export function invalid(field: string, message: string): Refusal {
  const errors = tree([{ path: field.split('.'), message }]);
  return new Refusal(400, 50035, { violation: `invalid ${field}: ${message}`, errors });
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** @see discord docs: reference, "Error Messages" (array error, object error) */
function tree(issues: readonly Issue[]): Json {
  const root: Record<string, unknown> = {};
  for (const { path, message } of issues) {
    let at = root;
    for (const step of path) {
      const next = (at[String(step)] ?? {}) as Record<string, unknown>;
      at[String(step)] = next;
      at = next;
    }
    at['_errors'] = [...((at['_errors'] as unknown[] | undefined) ?? []), { code: 'BASE_TYPE_BAD', message }];
  }
  return root;
}

/** Adds an issue from inside a refinement. */
export type Complain = (message: string, path?: readonly (string | number)[]) => void;

/** Creates a refinement that may report several issues. */
export function rule<Value>(check: (value: Value, complain: Complain) => void) {
  return (
    value: Value,
    context: { addIssue(issue: { code: 'custom'; message: string; path: (string | number)[] }): void },
  ) => check(value, (message, path = []) => context.addIssue({ code: 'custom', message, path: [...path] }));
}

/** Schema of Discord's ids. @see discord docs: reference, "Snowflakes" */
export const snowflake = z.string().regex(/^\d{17,20}$/, 'is no snowflake');
