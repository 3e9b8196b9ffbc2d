import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts secrets (AES-256-GCM), so that access to the store alone does not reveal them. */
export class TokenCipher {
  readonly #key: Buffer;

  /** @param secret the configured secret that the key is derived from */
  constructor(secret: string) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, 'dailies', 'slack installations', 32));
  }

  /** Encrypts `text`; only {@link open} with the same `name` decrypts it. */
  seal(name: string, text: string): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, iv).setAAD(Buffer.from(name));
    const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64');
  }

  /** Decrypts a text. @returns `null` if it was sealed with another key or name, or tampered with. */
  open(name: string, sealed: string): string | null {
    const bytes = Buffer.from(sealed, 'base64');
    const tagEnd = IV_BYTES + TAG_BYTES;
    try {
      const decipher = createDecipheriv(CIPHER, this.#key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(name)).setAuthTag(bytes.subarray(IV_BYTES, tagEnd));
      return Buffer.concat([decipher.update(bytes.subarray(tagEnd)), decipher.final()]).toString('utf8');
    } catch {
      return null;
    }
  }
}
