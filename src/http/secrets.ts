import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';

/** Compares a secret in constant time. @returns whether the given one is right. */
export function isSameSecret(given: string, right: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(right));
}

/** Returns the bearer token of a request; empty where it has none. */
export function bearerOf({ headers }: Pick<FastifyRequest, 'headers'>): string {
  return /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
}
