/** The type of a table of limits: its names, each with a number. */
export type Numbers<T> = { readonly [K in keyof T]: number };
