/** How the relay and the functions are bundled: by `npm run build`, and by the synthesis of a checkout. */

export interface Bundle {
  readonly name: string;
  readonly entry: string;
  /** Below dist/. */
  readonly outfile: string;
}

export type FunctionName = 'worker' | 'sweep' | 'register';

export const functionBundle = (name: FunctionName): Bundle => ({
  name,
  entry: `functions/${name}/${name}.handler.ts`,
  outfile: `functions/${name}/index.mjs`,
});

export const relayBundle: Bundle = {
  name: 'relay',
  entry: 'functions/relay/relay.main.ts',
  outfile: 'relay/relay.mjs',
};

export const bundles: readonly Bundle[] = [
  relayBundle,
  ...(['worker', 'sweep', 'register'] as const).map(functionBundle),
];

/** For esbuild. */
export function bundleOptions({ entry }: Bundle) {
  const isFunction = entry.endsWith('.handler.ts');
  return {
    entryPoints: [entry],
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    minify: true,
    // Names of functions and errors are in the functions' logs.
    keepNames: isFunction,
    sourcemap: isFunction,
    sourcesContent: false,
    mainFields: ['module', 'main'],
    legalComments: 'none',
    logLevel: 'warning',
    // Some of the SDK's dependencies are CommonJS and call require.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  } as const;
}
