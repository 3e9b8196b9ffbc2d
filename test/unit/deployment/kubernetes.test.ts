import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { VERSION } from '#src/config/version.ts';

const ROOT = join(import.meta.dirname, '../../..');
const PATH = 'ops/kubernetes/dailies.yaml';
const TEXT = readFileSync(join(ROOT, PATH), 'utf8');

type Labels = Readonly<Record<string, string>>;
interface Selector {
  readonly matchLabels: Labels;
}
interface Named {
  readonly name: string;
}
interface Probe {
  readonly httpGet: { readonly path: string };
}

/** A Kubernetes object as far as these tests read it; its whole shape is checked by {@link problemsOf}. */
interface Manifest<Spec = unknown> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Labels };
  readonly spec: Spec;
}

interface Container {
  readonly image: string;
  readonly ports: readonly [Named & { readonly containerPort: number }];
  readonly env: readonly object[];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly lifecycle: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
  readonly resources: object;
  readonly securityContext: object;
  readonly volumeMounts: readonly Named[];
}

interface Pod {
  readonly automountServiceAccountToken: boolean;
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: { readonly runAsUser: number };
  readonly topologySpreadConstraints: readonly [{ readonly labelSelector: Selector }];
  readonly containers: readonly [Container];
  readonly volumes: readonly [{ readonly persistentVolumeClaim: { readonly claimName: string } } & Named, ...Named[]];
}

interface DeploymentSpec {
  readonly replicas: number;
  readonly selector: Selector;
  readonly strategy: { readonly rollingUpdate: object };
  readonly template: { readonly metadata: { readonly labels: Labels }; readonly spec: Pod };
}

const manifests = parse(TEXT);
function one<Spec>(kind: string): Manifest<Spec> {
  const found = manifests.find((manifest) => manifest.kind === kind);
  return (found as Manifest<Spec> | undefined) ?? expect.fail(`no ${kind}`);
}
const deployment = one<DeploymentSpec>('Deployment').spec;
const budget = one<{ readonly maxUnavailable: number; readonly selector: Selector }>('PodDisruptionBudget').spec;
const service = one<{ readonly selector: Labels; readonly ports: readonly [{ readonly targetPort: string }] }>(
  'Service',
).spec;
const policy = one<{ readonly podSelector: Selector }>('NetworkPolicy').spec;
const claim = one<{ readonly accessModes: readonly string[] }>('PersistentVolumeClaim');
const pod = deployment.template.spec;
const [container] = pod.containers;

function parse(text: string): readonly Manifest[] {
  return parseAllDocuments(text).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as Manifest;
  });
}

/**
 * Checks manifests against the types of the Kubernetes API: as literals in TypeScript, where unknown fields are errors
 * as well. @returns what the compiler says.
 */
function problemsOf(objects: readonly Manifest[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'dailies-kubernetes-'));
  try {
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const literals = objects.map((object, at) => {
      const [group, version] = object.apiVersion.includes('/')
        ? object.apiVersion.split('/')
        : ['core', object.apiVersion];
      const types = `kubernetes-types/${group?.split('.')[0]}/${version}`;
      return `export const object${at}: import('${types}').${object.kind} = ${JSON.stringify(object)};\n`;
    });
    writeFileSync(join(folder, 'manifests.ts'), literals.join(''));
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--types', '', 'manifests.ts'];
    return spawnSync(join(ROOT, 'node_modules/.bin/tsc'), options, { cwd: folder, encoding: 'utf8' }).stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

it('has the shape that the Kubernetes API defines, without unknown fields', () => {
  expect(problemsOf(manifests)).toBe('');
});

it.each([
  ['readOnlyRootFilesystem', 'readOnlyRootFileSystem'],
  ['replicas: 2', 'replicas: two'],
])('notices %s written as %s', (right, wrong) => {
  expect(TEXT).toContain(right);
  expect(problemsOf(parse(TEXT.replace(right, wrong)))).not.toBe('');
});

/** @see https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted */
it('keeps to the restricted Pod Security rules, which its namespace enforces', () => {
  expect(one('Namespace').metadata.labels).toMatchObject({ 'pod-security.kubernetes.io/enforce': 'restricted' });
  expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
  expect(pod.securityContext.runAsUser).toBeGreaterThan(0);
  for (const field of ['hostNetwork', 'hostPID', 'hostIPC', 'initContainers']) expect(pod).not.toHaveProperty(field);
  expect(container.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
  const allowed = [
    'configMap',
    'csi',
    'downwardAPI',
    'emptyDir',
    'ephemeral',
    'persistentVolumeClaim',
    'projected',
    'secret',
  ];
  const kinds = pod.volumes.flatMap((volume) => Object.keys(volume).filter((key) => key !== 'name'));
  expect(kinds.filter((kind) => !allowed.includes(kind))).toEqual([]);
  expect(container.ports.filter((port) => 'hostPort' in port)).toEqual([]);
  expect(pod.automountServiceAccountToken).toBe(false);
});

it('runs two replicas of this version, of which an update or a drained node takes one at a time', () => {
  expect(container.image).toMatch(new RegExp(`:${VERSION.replaceAll('.', '\\.')}$`));
  const { replicas, strategy } = deployment;
  expect({ replicas, ...strategy.rollingUpdate }).toEqual({ replicas: 2, maxSurge: 1, maxUnavailable: 0 });
  expect(budget.maxUnavailable).toBe(1);
  expect(claim.spec.accessModes).toEqual(['ReadWriteMany']);
  expect(pod.topologySpreadConstraints).toHaveLength(1);
});

it('is asked for its health, and given the time to drain', () => {
  const { startupProbe, livenessProbe, readinessProbe, lifecycle, resources } = container;
  const paths = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet.path);
  expect(paths).toEqual(['/healthz', '/healthz', '/readyz']);
  // As long as compose.yaml grants, after the delay before the signal.
  expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(90 + lifecycle.preStop.sleep.seconds);
  expect(resources).toMatchObject({ requests: { memory: expect.any(String) }, limits: { memory: expect.any(String) } });
});

it('refers to what exists: labels, ports, volumes, the namespace', () => {
  const labels = deployment.template.metadata.labels;
  const selectors = [
    deployment.selector.matchLabels,
    budget.selector.matchLabels,
    service.selector,
    policy.podSelector.matchLabels,
    pod.topologySpreadConstraints[0].labelSelector.matchLabels,
  ];
  expect(selectors).toEqual(selectors.map(() => labels));
  const volumes = pod.volumes.map(({ name }) => name);
  expect(container.volumeMounts.map(({ name }) => name)).toEqual(volumes);
  expect(pod.volumes[0].persistentVolumeClaim.claimName).toBe(claim.metadata.name);
  expect(service.ports[0].targetPort).toBe(container.ports[0].name);
  expect(container.env).toContainEqual({ name: 'PORT', value: String(container.ports[0].containerPort) });
  const outside = manifests.filter(({ kind, metadata }) => kind !== 'Namespace' && metadata.namespace !== 'dailies');
  expect(outside).toEqual([]);
});

it('holds no secret', () => {
  expect(manifests.map(({ kind }) => kind)).not.toContain('Secret');
  expect(TEXT).not.toMatch(/(TOKEN|SECRET|PASSWORD|STORE_URL):/);
});
