import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createMetrics } from '#src/metrics/metrics.ts';
import { TaskHouse } from '#test/fakes/task-house.ts';

const TOP = join(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(join(TOP, path), 'utf8');

/** What others measure: Prometheus itself, and the exporter of Redis. */
const FOREIGN = /^(up|ALERTS|redis_(memory_(used|max)_bytes|aof_(enabled|last_write_status)))$/;

/** Every metric of the program by the names that Prometheus has its samples under. */
function measured() {
  const metrics = createMetrics();
  const { store, queue, clock } = new TaskHouse();
  metrics.watch({ store, queue, clock, platforms: new Map(), deadlineMs: 1, dataDir: '.' });
  const samples = new Map<string, { readonly labels: readonly string[]; readonly isShared: boolean }>();
  for (const metric of metrics.registry.getMetricsAsArray()) {
    const { name, help, labelNames } = metric as typeof metric & { labelNames: readonly string[] };
    const described = { labels: labelNames, isShared: help.includes('take max') };
    // A histogram's are its buckets and two more; of everything else there is the name alone.
    for (const ending of ['', '_bucket', '_sum', '_count']) {
      const isHistogram = metric.constructor.name === 'Histogram';
      if (isHistogram === (ending !== '')) samples.set(`${name}${ending}`, described);
    }
  }
  return samples;
}

const alarms = read('ops/alarms.yml');
const dashboard = read('ops/grafana/dailies.json');

/** What Prometheus is asked, by where it stands. */
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

/** The metrics an expression names, with the labels it picks them by and what stands before them. */
function metricsIn(expression: string) {
  const withoutGrouping = expression.replaceAll(/\b(by|without) \([^)]*\)/g, '');
  const names = /(\w+\s*\(\s*)?\b((?:dailies|nodejs|process|redis)_\w+|up|ALERTS)\b(?:\{([^}]*)\})?/g;
  return [...withoutGrouping.matchAll(names)].map(([, before = '', name = '', picked = '']) => ({
    name,
    aggregation: before.replace(/[\s(]+$/, ''),
    labels: [...picked.matchAll(/(\w+)[=!]~?"/g)].map(([, label = '']) => label),
  }));
}

describe('the alarms and the dashboard', () => {
  const known = measured();

  it('are all read here', () => {
    expect(EXPRESSIONS.filter(([where]) => where.startsWith('alarm'))).toHaveLength(
      alarms.match(/alert:/g)?.length ?? 0,
    );
    expect(EXPRESSIONS.length).toBeGreaterThan(40);
  });

  it.each(EXPRESSIONS)('%s names what is measured, by labels that it has', (_where, expression) => {
    const found = metricsIn(expression);
    expect(found.length).toBeGreaterThan(0);
    for (const { name, labels } of found) {
      if (FOREIGN.test(name)) continue;
      expect([...known.keys()]).toContain(name);
      // Prometheus adds who was asked.
      const there = [...(known.get(name)?.labels ?? []), 'job', 'instance', 'le'];
      expect(labels.filter((label) => !there.includes(label))).toEqual([]);
    }
  });

  it.each(EXPRESSIONS)('%s does not add up what each replica says of all', (_where, expression) => {
    const shared = metricsIn(expression).filter(({ name }) => known.get(name)?.isShared === true);
    expect(shared.filter(({ aggregation }) => aggregation !== 'max')).toEqual([]);
  });

  it('know which gauges are shared', () => {
    const shared = [...known].filter(([, { isShared }]) => isShared).map(([name]) => name);
    expect(shared).toContain('dailies_open_tasks');
    expect(shared).not.toContain('dailies_queue_lag_seconds');
  });
});

it('every alarm is tried by a test and has its place in docs/operations.md', () => {
  const named = (path: string, pattern: RegExp) => new Set([...read(path).matchAll(pattern)].map(([, name]) => name));
  const names = named('ops/alarms.yml', /alert: (\w+)/g);
  expect(named('docs/operations.md', /^### (\w+)$/gm)).toEqual(names);
  expect(named('ops/alarms.test.yml', /alertname: (\w+)\n/g)).toEqual(names);
});

it.each(['compose.yaml', 'compose.replicas.yaml'])('%s mounts the folder of the model catalog', (path) => {
  const [, folder] = /^#MODEL_CATALOG=(\w+)\//m.exec(read('.env.example')) ?? [];
  const mounted = `source: ./${folder} target: /app/${folder} read_only: true`;
  expect(read(path).replaceAll(/\s+/g, ' ')).toContain(mounted);
});

it('compose.replicas.yaml mounts files that exist, and watches the replicas that it starts', () => {
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

it.each(['compose.yaml', 'compose.replicas.yaml'])('%s gives the bot no right that it does not need', (path) => {
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

it('compose.replicas.yaml lets nothing without the password at Redis, and the proxy not even near it', () => {
  const compose = read('compose.replicas.yaml');
  const service = (name: string) => new RegExp(`^ {2}${name}:\\n(?: {4}.*\\n|\\n)+`, 'm').exec(compose)?.[0] ?? '';
  expect(service('redis')).toMatch(/--requirepass \$\{REDIS_PASSWORD\}[\s\S]*networks: \[backend\]/u);
  for (const name of ['proxy', 'prometheus', 'grafana']) expect(service(name)).toContain('networks: [front]');
});
