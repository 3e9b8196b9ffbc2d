import type { Registry } from 'prom-client';

/** One metric's samples by their labels, as Prometheus reads them. */
export async function samples(
  { registry }: { readonly registry: Registry },
  name: string,
): Promise<Record<string, number>> {
  const text = await registry.getSingleMetricAsString(name);
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    lines.map((line) => [line.slice(name.length, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
  );
}
