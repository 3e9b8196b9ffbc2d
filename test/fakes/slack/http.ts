import { createHmac } from 'node:crypto';
import { jsonOf } from './body.ts';
import type { Courier, Transport } from './courier.ts';
import type { Attempt, Envelope, Json } from './records.ts';
import type { World } from './world.ts';

/** Deviation of a forged request from a valid one. */
export interface Forgery {
  /** Signed with another secret, signed in the past or in the future, or not signed. */
  readonly kind: 'wrong' | 'stale' | 'future' | 'missing';
}

/**
 * "If the timestamp is more than five minutes from local time, it could be a replay attack":
 * authentication/verifying-requests-from-slack.
 */
const STALE_SECONDS = 5 * 60 + 1;

/** Sends requests to the app's own address. @see docs.slack.dev/apis/events-api/using-http-request-urls */
export class Requests implements Transport {
  readonly timeoutReason = 'http_timeout';
  readonly #world: World;
  readonly #courier: () => Courier;
  readonly #secret: string;
  readonly #urls: () => readonly string[];
  #turn = 0;

  /**
   * @param urls several addresses: those of the app's current replicas, to which a load balancer distributes requests
   * round-robin.
   */
  constructor(
    world: World,
    courier: () => Courier,
    { secret, urls }: { readonly secret: string; readonly urls: () => readonly string[] },
  ) {
    this.#world = world;
    this.#courier = courier;
    this.#secret = secret;
    this.#urls = urls;
  }

  get #url(): string {
    const urls = this.#urls();
    return urls[this.#turn % urls.length] ?? '';
  }

  send(envelope: Envelope, attempt: Attempt): boolean {
    this.#turn += 1;
    void this.#deliver(envelope, attempt);
    return true;
  }

  /** Verifies that a new address belongs to the app. @throws Error if it does not */
  async verify(): Promise<void> {
    const challenge = 'fake-challenge';
    const body = JSON.stringify({ token: 'fake-verification-token', challenge, type: 'url_verification' });
    const response = await fetch(this.#url, { method: 'POST', body, headers: this.#headers(body, 'application/json') });
    const text = await response.text();
    const answered = jsonOf(text)?.['challenge'] ?? text;
    // "Respond with the challenge parameter value": reference/events/url_verification
    if (response.status !== 200 || answered !== challenge)
      throw new Error(`${this.#url} does not answer the challenge.`);
  }

  /** Sends a forged request; accepting it is a violation. Resolves to the app's status. */
  async forge(payload: Json, { kind }: Forgery): Promise<number> {
    const body = JSON.stringify(payload);
    const headers = this.#headers(body, 'application/json', kind);
    const response = await fetch(this.#url, { method: 'POST', body, headers });
    await response.arrayBuffer();
    if (response.status < 400) this.#world.violate(`a request with a ${kind} signature was taken`);
    return response.status;
  }

  async #deliver(envelope: Envelope, attempt: Attempt): Promise<void> {
    const { body, type } = bodyOf(envelope);
    // @see docs.slack.dev/apis/events-api "Retries": x-slack-retry-num, x-slack-retry-reason
    const retry = { 'x-slack-retry-num': String(attempt.number), 'x-slack-retry-reason': attempt.reason ?? '' };
    const headers = { ...this.#headers(body, type), ...(attempt.number > 0 ? retry : {}) };
    try {
      const response = await fetch(this.#url, { method: 'POST', body, headers, redirect: 'manual' });
      const text = await response.text();
      if (response.status < 200 || response.status > 299) {
        this.#world.violate(`${envelope.kind} ${envelope.type} answered with ${response.status}`);
        this.#courier().lost(attempt);
        return;
      }
      this.#courier().acknowledge(attempt.id, payloadOf(text));
    } catch {
      // No response: the app is down, or went down meanwhile.
      this.#courier().lost(attempt);
    }
  }

  /** @see docs.slack.dev/authentication/verifying-requests-from-slack */
  #headers(body: string, type: string, forgery: Forgery['kind'] | null = null): Record<string, string> {
    // Real seconds: the app's library compares them with the system clock.
    const off = forgery === 'stale' ? -STALE_SECONDS : forgery === 'future' ? STALE_SECONDS : 0;
    const seconds = Math.floor(Date.now() / 1000) + off;
    const secret = forgery === 'wrong' ? 'another secret' : this.#secret;
    const signature = `v0=${createHmac('sha256', secret).update(`v0:${seconds}:${body}`).digest('hex')}`;
    const signed = { 'x-slack-request-timestamp': String(seconds), 'x-slack-signature': signature };
    return { 'content-type': type, ...(forgery === 'missing' ? {} : signed) };
  }
}

/** Events are sent as JSON, commands as a form, interactions as JSON in a form. */
function bodyOf({ kind, payload }: Envelope): { body: string; type: string } {
  const type = 'application/x-www-form-urlencoded';
  switch (kind) {
    case 'events_api':
      return { body: JSON.stringify(payload), type: 'application/json' };
    case 'slash_commands':
      return { body: new URLSearchParams(payload as Record<string, string>).toString(), type };
    case 'interactive':
      return { body: new URLSearchParams({ payload: JSON.stringify(payload) }).toString(), type };
  }
}

/**
 * Plain text in the response to a command is the message's text. @see
 * docs.slack.dev/interactivity/implementing-slash-commands
 */
function payloadOf(text: string): Json {
  if (text.trim() === '') return {};
  return jsonOf(text) ?? { text };
}
