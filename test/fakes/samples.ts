import type { Registry } from 'prom-client';

/** Returns the samples of one metric by their labels, in Prometheus's text format. */
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
