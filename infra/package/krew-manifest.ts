/** The manifest by which krew installs the package as the kubectl plugin `kubectl endpoints`. */
import { stringify } from 'yaml';

export interface PackageFacts {
  readonly name: string;
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly bin: { readonly [command: string]: string };
}

export const pluginName = 'endpoints';

/**
 * Krew downloads the archive that `npm publish` uploads to npm's registry. `sha256` is the hash of this
 * archive.
 */
export function krewManifest({ name, version, engines, bin }: PackageFacts, sha256: string): string {
  const program = bin[`kubectl-${pluginName}`];
  if (program === undefined)
    throw new Error(`package.json has no bin kubectl-${pluginName}: there is ${Object.keys(bin).join(', ')}`);
  return stringify(
    {
      apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
      kind: 'Plugin',
      metadata: { name: pluginName },
      spec: {
        version: `v${version}`,
        homepage: `https://www.npmjs.com/package/${name}`,
        shortDescription: 'Explain why a Service has its endpoints',
        description: [
          'Explains whether a Service can be reached, and for each pod why it is an address or not.',
          'It reads the cluster with your rights, and needs nothing installed in it.',
          `An earlier time needs a hub of ${name}, with AWS credentials and TABLE_NAME.`,
          '',
          'Example: kubectl endpoints explain svc/web -n shop',
        ].join('\n'),
        caveats: `Node ${engines.node} must be in PATH.\nThe command "start" needs the npm package ${name}.`,
        platforms: [
          {
            // Windows runs no script by its first line.
            selector: { matchExpressions: [{ key: 'os', operator: 'In', values: ['linux', 'darwin'] }] },
            uri: `https://registry.npmjs.org/${name}/-/${name}-${version}.tgz`,
            sha256,
            files: [{ from: 'package/*', to: '.' }],
            bin: program,
          },
        ],
      },
    },
    { lineWidth: 0 },
  );
}
