import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '../../..');
const FILES = ['compose.yaml', 'compose.replicas.yaml'] as const;

interface Service {
  readonly build?: string;
  readonly image?: string;
  readonly ports?: readonly string[];
  readonly read_only?: boolean;
  readonly tmpfs?: string | readonly string[];
  readonly cap_drop?: readonly string[];
  readonly cap_add?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly mem_limit?: string;
  readonly pids_limit?: number;
  readonly stop_grace_period?: string;
  readonly privileged?: boolean;
}

/** All services of the compose files by file and name. */
const services = FILES.flatMap((file) => {
  const read = parse(readFileSync(join(ROOT, file), 'utf8')) as {
    readonly services: Readonly<Record<string, Service>>;
  };
  return Object.entries(read.services).map(([name, service]) => [`${name} of ${file}`, service] as const);
});
const own = services.filter(([, { build }]) => build !== undefined);
const foreign = services.filter(([, { build }]) => build === undefined);

it('finds the services', () => {
  expect(own.map(([name]) => name)).toEqual([
    'dailies of compose.yaml',
    'dailies-1 of compose.replicas.yaml',
    'dailies-2 of compose.replicas.yaml',
  ]);
  expect(foreign.length).toBeGreaterThan(3);
});

describe.each(services)('%s', (_name, service) => {
  it('gains no privileges, and is published on this machine alone', () => {
    expect(service.security_opt).toEqual(['no-new-privileges:true']);
    expect(service.privileged).toBeUndefined();
    expect((service.ports ?? []).filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
  });
});

describe.each(own)('%s', (_name, service) => {
  it('writes to its data alone, without capabilities', () => {
    expect(service).toMatchObject({ read_only: true, tmpfs: '/tmp', cap_drop: ['ALL'] });
    expect(service.cap_add).toBeUndefined();
  });

  it('has a limit of memory and of processes, and time to drain', () => {
    expect(service).toMatchObject({ mem_limit: '2g', pids_limit: 256, stop_grace_period: '90s' });
  });
});

describe.each(foreign)('%s', (_name, { image }) => {
  it('has an exact version', () => {
    expect(image).toMatch(/^[\w./-]+:v?\d+\.\d+\.\d+(-\w+)?(@sha256:[\da-f]{64})?$/);
  });
});

it('pins the base image by digest', () => {
  const from = readFileSync(join(ROOT, 'Dockerfile'), 'utf8').match(/^FROM .*$/gm);
  expect(from).toEqual([
    expect.stringMatching(/^FROM node:[\d.]+-bookworm-slim@sha256:[\da-f]{64} AS node$/),
    'FROM node AS packages',
    'FROM node',
  ]);
});
