/**
 * The code of a function. The package contains it built, so its user bundles nothing. A checkout bundles it
 * at each synthesis, so it is never stale.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { AssetHashType, DockerImage } from 'aws-cdk-lib';
import { type AssetCode, Code } from 'aws-cdk-lib/aws-lambda';
import { bundleOptions, type FunctionName, functionBundle } from '#infra/bundle-options.ts';
import { builtFile, installation, isCheckout } from '#infra/installation.ts';

export const functionCode = (name: FunctionName): AssetCode =>
  isCheckout ? bundledAtSynthesis(name) : Code.fromAsset(builtFile(`functions/${name}`));

function bundledAtSynthesis(name: FunctionName): AssetCode {
  return Code.fromAsset(join(installation.root, 'functions', name), {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      // Never asked for: the local way below does not fail.
      image: DockerImage.fromRegistry('none'),
      local: {
        tryBundle(folder) {
          const { buildSync } = createRequire(import.meta.url)('esbuild') as typeof import('esbuild');
          const options = bundleOptions(functionBundle(name));
          buildSync({
            ...options,
            entryPoints: [...options.entryPoints],
            mainFields: [...options.mainFields],
            absWorkingDir: installation.root,
            outfile: join(folder, 'index.mjs'),
          });
          return true;
        },
      },
    },
  });
}
