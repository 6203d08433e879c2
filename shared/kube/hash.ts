/** FNV-1a, 128 bits, over the text's UTF-8 (RS-11), as 32 lower-case hexadecimal digits. Upstream orders subsets and ports by it. */
export function fnv1a128(text: string): string {
  let hash = 0x6c62272e07bb014262b821756295c58dn;
  for (const byte of encoder.encode(text)) hash = BigInt.asUintN(128, (hash ^ BigInt(byte)) * prime);
  return hash.toString(16).padStart(32, '0');
}

const prime = (1n << 88n) + 315n;
const encoder = new TextEncoder();

/** Spreads names evenly over `count` buckets: FNV-1a, 32 bits, over UTF-16. */
export function bucketOf(name: string, count: number): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) h = Math.imul(h ^ name.charCodeAt(i), 0x01000193);
  return (h >>> 0) % count;
}
