/** Keys as etcd orders them: by their bytes, which is not the order of UTF-16 units that `<` has. */
export const compareBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
