// node .ci/image.js <image> [<version>]
// Starts an image as compose.yaml does (read-only root, no capabilities) and with nothing configured but a token, checks
// its health, its readiness and its version, orders a clip in the playground, waits until the embedded sandbox has made
// it, downloads it, and stops the container by SIGTERM. Exits 0 only if all of that worked.
// Uses docker; where there is none, buildah in a chroot, which lacks the limits: it shares the machine's network, its
// root is writable and capabilities are not dropped. Runs on the machine's own Node (20 or later).
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as after } from 'node:timers/promises';

const READY_MS = 120_000;
const CLIP_MS = 180_000;
const STOP_SECONDS = 90;

const [image, version] = process.argv.slice(2);
if (image === undefined) throw new Error('usage: node .ci/image.js <image> [<version>]');
const token = randomBytes(16).toString('hex');
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };

const run = (/** @type {string} */ program, /** @type {string[]} */ args) =>
  execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
const say = (/** @type {string} */ line) => process.stdout.write(`${line}\n`);

/** @returns {Promise<number>} a port of this machine that nothing listens on */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Starts the image with docker. @returns {Promise<{ port: number, stop: () => Promise<number | null> }>} */
async function withDocker() {
  const limits =
    '--read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges --pids-limit 256 --memory 2g';
  // The same port inside: the playground answers at its own address alone.
  const port = await freePort();
  const options = [...limits.split(' '), '-e', `PLAYGROUND_TOKEN=${token}`, '-e', `PORT=${port}`];
  const id = run('docker', ['run', '-d', ...options, '-p', `127.0.0.1:${port}:${port}`, image]);
  const stop = async () => {
    run('docker', ['stop', '-t', String(STOP_SECONDS), id]);
    const code = Number(run('docker', ['inspect', '--format', '{{.State.ExitCode}}', id]));
    if (code !== 0) say(run('docker', ['logs', '--tail', '50', id]));
    run('docker', ['rm', '-fv', id]);
    return code;
  };
  return { port, stop };
}

/** Starts the image with buildah. @returns {Promise<{ port: number, stop: () => Promise<number | null> }>} */
async function withBuildah() {
  const port = await freePort();
  const id = run('buildah', ['from', '--pull-never', image]);
  const { Cmd } = JSON.parse(run('buildah', ['inspect', id])).OCIv1.config;
  const env = [`PLAYGROUND_TOKEN=${token}`, `PORT=${port}`, 'HOST=127.0.0.1'].flatMap((one) => ['--env', one]);
  const args = ['run', '--isolation', 'chroot', ...env, id, '--', ...Cmd];
  const child = spawn('buildah', args, { stdio: ['ignore', 'inherit', 'inherit'] });
  const stop = async () => {
    const ended = child.exitCode === null ? once(child, 'exit') : [child.exitCode];
    // The program in the chroot is the one of its processes that has its port.
    const pids = execFileSync('fuser', [`${port}/tcp`], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
      .split(/\s+/)
      .filter(Boolean)
      .map(Number);
    for (const pid of pids) process.kill(pid, 'SIGTERM');
    const [code] = await ended;
    run('buildah', ['rm', id]);
    return code;
  };
  return { port, stop };
}

/**
 * @template T
 * @param {string} what
 * @param {number} timeoutMs
 * @param {() => Promise<T | undefined>} look
 * @returns {Promise<T>}
 */
async function until(what, timeoutMs, look) {
  const started = Date.now();
  for (;;) {
    const found = await look().catch(() => undefined);
    if (found !== undefined) {
      say(`${what}: after ${((Date.now() - started) / 1_000).toFixed(1)} s`);
      return found;
    }
    if (Date.now() - started > timeoutMs) throw new Error(`not within ${timeoutMs / 1_000} s: ${what}`);
    await after(200);
  }
}

/** Checks a running container at its address. */
async function check(/** @type {string} */ url) {
  const get = (/** @type {string} */ path) => fetch(`${url}${path}`, { headers });
  await until('healthy', READY_MS, async () => ((await get('/healthz')).ok ? true : undefined));
  await until('ready', READY_MS, async () => ((await get('/readyz')).ok ? true : undefined));
  const shown = /dailies_build_info\{version="([^"]+)",node="([^"]+)"\}/.exec(await (await get('/metrics')).text());
  say(`version ${shown?.[1]}, Node ${shown?.[2]}`);
  if (version !== undefined && shown?.[1] !== version) throw new Error(`the image is ${shown?.[1]}, not ${version}`);

  const order = { id: 'image-check', user: 'ana', channel: 'general', text: '/video create a red fox in snow' };
  const answer = await fetch(`${url}/playground/interactions`, {
    method: 'POST',
    headers,
    body: JSON.stringify(order),
  });
  if (!answer.ok) throw new Error(`the order was answered with HTTP ${answer.status}`);
  const clip = await until('clip', CLIP_MS, async () => {
    const messages = await (await get('/playground/messages?limit=100&channel=general')).json();
    const done = messages.find((/** @type {{ state: string }} */ one) => one.state === 'completed');
    return done?.attachments[0];
  });
  const bytes = Buffer.from(await (await get(new URL(clip.url, url).pathname)).arrayBuffer());
  if (bytes.subarray(4, 8).toString('latin1') !== 'ftyp') throw new Error('what was delivered is no MP4');
  say(`delivered: ${bytes.length} bytes of MP4`);
}

const hasDocker = spawnSync('docker', ['version'], { stdio: 'ignore' }).status === 0;
const container = await (hasDocker ? withDocker() : withBuildah());
try {
  await check(`http://127.0.0.1:${container.port}`);
} finally {
  const code = await container.stop();
  say(`stopped by SIGTERM: exit code ${code}`);
  if (code !== 0) process.exitCode = 1;
}
