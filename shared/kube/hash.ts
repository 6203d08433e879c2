/**
 * FNV-1a, 128 bits, over the text's UTF-8 (RS-11), as 32 lower-case hexadecimal digits. Upstream orders
 * subsets and ports by it.
 *
 * The state is six limbs of 22 bits, least significant first. The prime is 2^88 + 315, and 88 bits are four
 * limbs. Therefore h × prime is each limb × 315 plus the limb four below. Every term stays within 31 bits.
 */
export function fnv1a128(text: string): string {
  // 0x6c62272e07bb014262b821756295c58d
  let a = 0x15c58d;
  let b = 0x5d58a;
  let c = 0x262b82;
  let d = 0x2ec050;
  let e = 0x272e07;
  let f = 0x1b188;
  const utf8 = encoder.encode(text);
  for (let i = 0; i < utf8.length; i++) {
    a ^= utf8[i] as number;
    const a0 = a;
    const b0 = b;
    let t = a * 315;
    a = t & limb;
    t = b * 315 + (t >>> 22);
    b = t & limb;
    t = c * 315 + (t >>> 22);
    c = t & limb;
    t = d * 315 + (t >>> 22);
    d = t & limb;
    t = e * 315 + a0 + (t >>> 22);
    e = t & limb;
    t = f * 315 + b0 + (t >>> 22);
    f = t & topLimb;
  }
  const hash = [f, e, d, c, b, a].reduce((h, l) => (h << 22n) | BigInt(l), 0n);
  return hash.toString(16).padStart(32, '0');
}

const limb = 0x3fffff;
/** 5 × 22 bits are below it. */
const topLimb = 0x3ffff;

const encoder = new TextEncoder();

/** Spreads names evenly over `count` buckets: FNV-1a, 32 bits, over UTF-16. */
export function bucketOf(name: string, count: number): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) h = Math.imul(h ^ name.charCodeAt(i), 0x01000193);
  return (h >>> 0) % count;
}
