import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { LocalCloud } from '#test/support/aws/local-cloud.ts';
import { stsListener } from '#test/support/aws/sts-stand-in.ts';
import type { TokenIssuer } from '#test/support/aws/token-issuer.ts';

/**
 * STS for one role. The local cloud checks each request, and answers with a web identity token that lacks the
 * role and an issuer's signature. The issuer's token replaces it.
 */
export async function startStsOf(
  role: string,
  cloud: LocalCloud,
  issuer: TokenIssuer,
): Promise<{ readonly url: string; close(): void }> {
  const withToken = (answer: string, request: string): string => {
    const aud = new URLSearchParams(request).get('Audience.member.1') ?? '';
    return answer.replace(/(?<=<WebIdentityToken>)[^<]*/, issuer.token({ sub: role, aud }));
  };
  const server = http.createServer(await stsListener(cloud, withToken));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
