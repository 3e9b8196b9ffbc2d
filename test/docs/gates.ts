import { GATES } from '#commands/orders/gates.ts';
import { table } from './generated.ts';

/** Returns the table of the gates of an order, in their order. */
export function gateTable(): string {
  const rows = GATES.map((gate) => [
    `\`${gate.name}\``,
    'refuses' in gate ? gate.refuses : '',
    'asks' in gate ? gate.asks : '',
  ]);
  return table(['gate', 'refuses', 'asks'], rows);
}
