/** Memory of the functions, MiB. Lambda gives a whole processor from 1,769 MiB on. */
export const functionMemoryMiB = { worker: 1769, sweep: 1769 } as const;
