import { hash } from 'node:crypto';
import { type Checked, checkRequest, draftOfRequest } from './check.ts';
import type { Catalog, Model } from './model.ts';
import type { VideoRequest } from './request.ts';

/** Returns a request as the first model of another service takes it, with all of its options; `null` if there is none. */
export function requestElsewhere(
  catalog: Catalog,
  request: VideoRequest,
): Extract<Checked, { readonly ok: true }> | null {
  const { service: own = catalog.models.find(({ name }) => name === request.model)?.service } = request;
  const others = catalog.models.filter(({ service }) => service !== own);
  for (const { name } of others) {
    const checked = requestAt(catalog, request, name);
    if (checked.ok) return checked;
  }
  return null;
}

/** Validates an earlier request for a model of that name. */
export function requestAt(catalog: Catalog, request: VideoRequest, model: string): Checked {
  return checkRequest(catalog, { ...draftOfRequest(request), model });
}

/** Returns what stands for a model in the id of a button: 8 hexadecimal digits of a hash of its name. */
export function modelFingerprint({ name }: Pick<Model, 'name'>): string {
  return hash('sha256', name, 'hex').slice(0, 8);
}
