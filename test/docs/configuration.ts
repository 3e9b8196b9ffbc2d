import { PLATFORM_CONFIGS } from '#adapters/registry.ts';
import { variablesOf } from '#src/config/config.ts';
import { table } from './generated.ts';

/** Returns the table of the variables, from their schemas: name, meaning, and what applies where it is not set. */
export function variableTable(): string {
  const rows = Object.entries(variablesOf(PLATFORM_CONFIGS)).map(([name, schema]) => {
    const { description, unset } = schema.meta() ?? {};
    const { data } = schema.safeParse(undefined);
    const otherwise = typeof data === 'string' || typeof data === 'number' ? `\`${data}\`` : unset;
    if (description === undefined || typeof otherwise !== 'string')
      throw new TypeError(`${name}: its schema does not say what it means, or what applies without it`);
    return [`\`${name}\``, description, otherwise];
  });
  return table(['variable', 'meaning', 'default'], rows);
}
