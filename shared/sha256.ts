import { createHash, createHmac, createSecretKey } from 'node:crypto';

/**
 * For signatures by the SDK. Its own class passes a key's bytes to Node, which takes four times as long for
 * bytes as for a key object.
 */
export class Sha256 {
  readonly #hash;

  constructor(key?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash =
      key === undefined
        ? createHash('sha256')
        : createHmac('sha256', typeof key === 'string' ? key : createSecretKey(key as Uint8Array));
  }

  update(data: string | Uint8Array): void {
    this.#hash.update(data);
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): never {
    throw new Error('the hash of a signature is used once');
  }
}
