import { createRequire } from 'node:module';

interface LevelCalls {
  _get(key: unknown, options: object): Promise<unknown>;
  _getSync(key: unknown, options: object): unknown;
  _put(key: unknown, value: unknown, options: object): Promise<void>;
  _del(key: unknown, options: object): Promise<void>;
  _batch(writes: readonly Write[], options: object): Promise<void>;
}

type Write =
  | { readonly type: 'put'; readonly key: unknown; readonly value: unknown }
  | { readonly type: 'del'; readonly key: unknown };

/**
 * Makes dynalite's calls of LevelDB cheaper, by reads in this thread and by groups of writes:
 *
 * - It reads two or three times a request by another thread. The data is nearly always in memory, so a
 *   synchronous read is faster.
 * - It writes an item and each of its index entries by itself, each time by another thread. Writes requested
 *   during another write are grouped.
 */
export function callLevelLess(): void {
  const { Level } = createRequire(createRequire(import.meta.url).resolve('dynalite'))('level') as {
    readonly Level: { readonly prototype: LevelCalls };
  };
  readInPlace(Level.prototype);
  writeInGroups(Level.prototype);
}

export function readInPlace(level: LevelCalls): void {
  level._get = async function (key, options) {
    return this._getSync(key, options);
  };
}

interface Group {
  readonly writes: Write[];
  readonly written: PromiseWithResolvers<void>;
}

/**
 * Each write still resolves once it is written. Groups keep the order in which their writes were requested.
 */
export function writeInGroups(level: LevelCalls): void {
  const waiting = new WeakMap<object, Group>();

  function write(db: LevelCalls, each: Write): Promise<void> {
    const group = waiting.get(db);
    if (group) {
      group.writes.push(each);
      return group.written.promise;
    }
    return begin(db, each);
  }

  function begin(db: LevelCalls, first: Write): Promise<void> {
    let group: Group | undefined = newGroup([first]);
    const { promise } = group.written;
    waiting.set(db, group);
    void (async () => {
      // The group takes the other writes of this turn of the event loop.
      await new Promise((resolve) => setImmediate(resolve));
      for (; group; group = next(db)) await writeGroup(db, group);
    })();
    return promise;
  }

  async function writeGroup(db: LevelCalls, { writes, written }: Group): Promise<void> {
    waiting.set(db, newGroup([]));
    try {
      await db._batch(writes, {});
      written.resolve();
    } catch (error) {
      written.reject(error);
    }
  }

  function next(db: LevelCalls): Group | undefined {
    const group = waiting.get(db);
    if (group && group.writes.length > 0) return group;
    waiting.delete(db);
    return undefined;
  }

  level._put = function (key, value) {
    return write(this, { type: 'put', key, value });
  };
  level._del = function (key) {
    return write(this, { type: 'del', key });
  };
}

const newGroup = (writes: Write[]): Group => ({ writes, written: Promise.withResolvers<void>() });
