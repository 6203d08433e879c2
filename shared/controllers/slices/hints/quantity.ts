/**
 * Returns the exact value of a Kubernetes quantity in nano-units, rounded up, as apimachinery's ParseQuantity
 * does. Returns undefined for any other text.
 */
export function parseQuantity(text: string): bigint | undefined {
  const match = quantity.exec(text);
  if (!match) return undefined;
  const [, sign, whole = '', fraction = '', suffix = ''] = match;
  if (whole === '' && fraction === '') return undefined;
  const [base, exponent] = scaleOf(suffix);
  // mantissa × base × 10^(exponent − digits of the fraction), in nano-units
  const mantissa = BigInt(`${whole}${fraction}`) * base;
  const power = exponent - fraction.length + 9;
  const value = power >= 0 ? mantissa * 10n ** BigInt(power) : divideUp(mantissa, 10n ** BigInt(-power));
  return sign === '-' ? -value : value;
}

/** Nano-units to milli-units, rounded up, as Quantity.MilliValue. */
export function toMilli(nano: bigint): number {
  return Number(nano >= 0n ? divideUp(nano, 1_000_000n) : nano / 1_000_000n);
}

const quantity = /^([+-]?)(\d*)(?:\.(\d*))?([numkMGTPE]|[KMGTPE]i|[eE][+-]?\d{1,3})?$/;

/** Powers of ten by suffix. */
const decimal: { readonly [suffix: string]: number } = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
/** In order, each 1024 times the one before. */
const binary = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

function scaleOf(suffix: string): readonly [base: bigint, exponent: number] {
  const power = decimal[suffix];
  if (power !== undefined) return [1n, power];
  const step = binary.indexOf(suffix);
  return step >= 0 ? [1024n ** BigInt(step + 1), 0] : [1n, Number(suffix.slice(1))];
}

function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}
