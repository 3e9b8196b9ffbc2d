import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createMetrics } from '#src/metrics/metrics.ts';
import { TaskHouse } from '#test/fakes/task-house.ts';

const TOP = join(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(join(TOP, path), 'utf8');

/** External metrics: those of Prometheus itself and of the Redis exporter. */
const FOREIGN = /^(up|ALERTS|redis_(memory_(used|max)_bytes|aof_(enabled|last_write_status)))$/;

/** Returns the program's metrics by the names of their Prometheus samples. */
function measured() {
  const metrics = createMetrics();
  const { store, queue, clock } = new TaskHouse();
  metrics.watch({
    store,
    queue,
    clock,
    platforms: new Map(),
    deadlineMs: 1,
    dataDir: '.',
    space: { usage: () => null, maxBytes: null },
  });
  const samples = new Map<string, { readonly labels: readonly string[]; readonly isShared: boolean }>();
  for (const metric of metrics.registry.getMetricsAsArray()) {
    const { name, help, labelNames } = metric as typeof metric & { labelNames: readonly string[] };
    const described = { labels: labelNames, isShared: help.includes('take max') };
    // A histogram has samples for its buckets, sum and count; any other metric has one under its own name.
    for (const ending of ['', '_bucket', '_sum', '_count']) {
      const isHistogram = metric.constructor.name === 'Histogram';
      if (isHistogram === (ending !== '')) samples.set(`${name}${ending}`, described);
    }
  }
  return samples;
}

const alarms = read('ops/alarms.yml');
const dashboard = read('ops/grafana/dailies.json');

/** PromQL expressions with the alarm or panel that they belong to. */
const EXPRESSIONS: readonly (readonly [where: string, expression: string])[] = [
  ...[...alarms.matchAll(/alert: (\w+)\n +expr: (>-\n(?: {10,}.*\n)+|.*\n)/g)].map(
    ([, name = '', expression = '']) => [`alarm ${name}`, expression] as const,
  ),
  ...panelsOf(JSON.parse(dashboard)).flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => [`panel ${title}`, expr] as const),
  ),
];

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

function panelsOf(read: { readonly panels: readonly Panel[] }): readonly Panel[] {
  return read.panels;
}

/** Returns the metrics of an expression, with their label matchers and aggregations. */
function metricsIn(expression: string) {
  const withoutGrouping = expression.replaceAll(/\b(by|without) \([^)]*\)/g, '');
  const names = /(\w+\s*\(\s*)?\b((?:dailies|nodejs|process|redis)_\w+|up|ALERTS)\b(?:\{([^}]*)\})?/g;
  return [...withoutGrouping.matchAll(names)].map(([, before = '', name = '', picked = '']) => ({
    name,
    aggregation: before.replace(/[\s(]+$/, ''),
    labels: [...picked.matchAll(/(\w+)[=!]~?"/g)].map(([, label = '']) => label),
  }));
}

describe('alarms and dashboard', () => {
  const known = measured();

  it('are all parsed by these tests', () => {
    expect(EXPRESSIONS.filter(([where]) => where.startsWith('alarm'))).toHaveLength(
      alarms.match(/alert:/g)?.length ?? 0,
    );
    expect(EXPRESSIONS.length).toBeGreaterThan(40);
  });

  it.each(EXPRESSIONS)('%s uses existing metrics and labels', (_where, expression) => {
    const found = metricsIn(expression);
    expect(found.length).toBeGreaterThan(0);
    for (const { name, labels } of found) {
      if (FOREIGN.test(name)) continue;
      expect([...known.keys()]).toContain(name);
      // Prometheus adds the labels of the scrape target.
      const there = [...(known.get(name)?.labels ?? []), 'job', 'instance', 'le'];
      expect(labels.filter((label) => !there.includes(label))).toEqual([]);
    }
  });

  it.each(EXPRESSIONS)(
    '%s does not sum gauges that every replica reports for the whole cluster',
    (_where, expression) => {
      const shared = metricsIn(expression).filter(({ name }) => known.get(name)?.isShared === true);
      expect(shared.filter(({ aggregation }) => aggregation !== 'max')).toEqual([]);
    },
  );

  it('distinguish shared gauges from those of one replica', () => {
    const shared = [...known].filter(([, { isShared }]) => isShared).map(([name]) => name);
    expect(shared).toContain('dailies_open_tasks');
    expect(shared).not.toContain('dailies_queue_lag_seconds');
  });
});

it('every alarm has a test and a section in docs/operations.md', () => {
  const named = (path: string, pattern: RegExp) => new Set([...read(path).matchAll(pattern)].map(([, name]) => name));
  const names = named('ops/alarms.yml', /alert: (\w+)/g);
  expect(named('docs/operations.md', /^### (\w+)$/gm)).toEqual(names);
  expect(named('ops/alarms.test.yml', /alertname: (\w+)\n/g)).toEqual(names);
});

it.each(['compose.yaml', 'compose.replicas.yaml'])('%s mounts the model catalog’s folder', (path) => {
  const [, folder] = /^#MODEL_CATALOG=(\w+)\//m.exec(read('.env.example')) ?? [];
  const mounted = `source: ./${folder} target: /app/${folder} read_only: true`;
  expect(read(path).replaceAll(/\s+/g, ' ')).toContain(mounted);
});

it('compose.replicas.yaml mounts existing files and monitors all replicas', () => {
  const compose = read('compose.replicas.yaml');
  const mounted = [...compose.matchAll(/- (\.\/\S+?):/g)].map(([, path = '']) => path);
  expect(mounted.length).toBeGreaterThan(4);
  for (const path of mounted) expect(read(path)).not.toBe('');
  const replicas = [...compose.matchAll(/^ {2}(dailies-\d+):/gm)].map(([, name]) => `${name}:3000`);
  expect(replicas.length).toBeGreaterThan(1);
  for (const path of ['ops/prometheus.yml', 'ops/Caddyfile']) {
    expect(read(path).match(/dailies-\d+:3000/g)).toEqual(replicas);
  }
});

it.each(['compose.yaml', 'compose.replicas.yaml'])('%s restricts the bot’s privileges and resources', (path) => {
  const compose = read(path);
  const bot = compose.slice(
    compose.search(/^(x-dailies| {2}dailies):/m),
    compose.search(/^(services:\n {2}#|volumes:)/m),
  );
  for (const hardening of [
    'read_only: true',
    'cap_drop: [ALL]',
    'no-new-privileges:true',
    'pids_limit:',
    'mem_limit:',
  ]) {
    expect(bot).toContain(hardening);
  }
});

it('compose.replicas.yaml requires a password for Redis and isolates it from the proxy’s network', () => {
  const compose = read('compose.replicas.yaml');
  const service = (name: string) => new RegExp(`^ {2}${name}:\\n(?: {4}.*\\n|\\n)+`, 'm').exec(compose)?.[0] ?? '';
  expect(service('redis')).toMatch(/--requirepass \$\{REDIS_PASSWORD\}[\s\S]*networks: \[backend\]/u);
  for (const name of ['proxy', 'prometheus', 'grafana']) expect(service(name)).toContain('networks: [front]');
});
