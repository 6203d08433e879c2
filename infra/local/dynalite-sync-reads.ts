import { createRequire } from 'node:module';

interface LevelReads {
  _get(key: unknown, options: object): Promise<unknown>;
  _getSync(key: unknown, options: object): unknown;
}

/** dynalite reads its LevelDB two or three times a request, each time by another thread; the data is nearly always in memory, where a synchronous read is faster. */
export function readLevelInPlace(): void {
  const { Level } = createRequire(createRequire(import.meta.url).resolve('dynalite'))('level') as {
    readonly Level: { readonly prototype: LevelReads };
  };
  Level.prototype._get = async function (key, options) {
    return this._getSync(key, options);
  };
}
