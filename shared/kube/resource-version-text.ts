const shape = /^(0|[1-9][0-9]{0,38})$/;

/** Is it a resourceVersion of a conforming API server: a decimal number of 1 to 39 digits (KEP-5504)? */
export const isResourceVersion = (value: unknown): value is string =>
  typeof value === 'string' && shape.test(value);
