/**
 * The Multi-Cluster Services API in the version that a cluster serves (MC-1): v1beta1, or v1alpha1 where that
 * is all there is. Both have the same schema.
 */
import { mcsAlphaVersion, mcsApiVersion } from '#shared/kube/projection/mcs-projection.ts';
import type { HttpResponse, HttpTransport, RequestOptions } from './transport.ts';

/**
 * Callers ask for v1beta1. The first request uses the version that the cluster served last, and falls back to
 * the other version. A list precedes each watch, so a watch uses the version of that list.
 */
export function mcsVersions(transport: HttpTransport): HttpTransport {
  let served = mcsApiVersion;
  const inVersion = (path: string, version: string): string =>
    path.replace(`/apis/${mcsApiVersion}/`, `/apis/${version}/`);

  return {
    async request(method, path, options) {
      if (!path.startsWith(`/apis/${mcsApiVersion}/`)) return transport.request(method, path, options);
      const ask = (version: string): Promise<HttpResponse> =>
        transport.request(method, inVersion(path, version), withVersion(options, version));
      const answer = await ask(served);
      if (!isWithoutKind(answer)) return answer;
      const other = served === mcsApiVersion ? mcsAlphaVersion : mcsApiVersion;
      const second = await ask(other);
      if (isWithoutKind(second)) return answer;
      served = other;
      return second;
    },
    stream: (method, path, options) => transport.stream(method, inVersion(path, served), options),
    close: () => transport.close(),
  };
}

/**
 * An object that is not there is answered with a Status, a version that is not there by the server's own
 * words.
 */
const isWithoutKind = ({ status, body }: HttpResponse): boolean =>
  status === 404 && !body.toString().trimStart().startsWith('{');

/** An object is sent in the version of its path. */
function withVersion(options: RequestOptions | undefined, version: string): RequestOptions | undefined {
  if (options?.body === undefined) return options;
  const body = JSON.parse(options.body) as { readonly apiVersion?: string };
  return body.apiVersion === mcsApiVersion
    ? { ...options, body: JSON.stringify({ ...body, apiVersion: version }) }
    : options;
}
