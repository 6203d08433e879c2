/**
 * Signs itself: openssl req -x509 -newkey ed25519 -nodes -days 36500 -subj /CN=kubernetes -keyout /dev/null
 */
export const authority = `-----BEGIN CERTIFICATE-----
MIIBQDCB86ADAgECAhRXLVrWxjHBX3cm6bg96vLzKsKSZDAFBgMrZXAwFTETMBEG
A1UEAwwKa3ViZXJuZXRlczAgFw0yNjExMjQwMzM3NDdaGA8yMTI2MTAzMTAzMzc0
N1owFTETMBEGA1UEAwwKa3ViZXJuZXRlczAqMAUGAytlcAMhALk7QMKm4dO4APSm
P2DRzze1nt26KCABT37uE8+5Doq2o1MwUTAdBgNVHQ4EFgQUgi3aPmRSoAlWvGpe
bUH5oBrsE+MwHwYDVR0jBBgwFoAUgi3aPmRSoAlWvGpebUH5oBrsE+MwDwYDVR0T
AQH/BAUwAwEB/zAFBgMrZXADQQAvb+2TdgckNFtObK7p7QV3+sTQo7ctz3w4jZWR
9dTg4knAj0IiM8IqKL0vJMFJ8Z0TYbkGHaN+OHghh2xjj+YK
-----END CERTIFICATE-----
`;
/** As EKS has it. */
export const authorityData = Buffer.from(authority).toString('base64');

/** Every kind of cluster, network and identity that the configuration has. */
export const everything = `
hub:
  name: Fleet
  runbookUrl: https://wiki.example.com/runbook
  vpc: { vpcId: vpc-0123456789abcdef0, subnetIds: [subnet-0123456789abcdef0, subnet-0123456789abcdef1], securityGroupIds: [sg-0123456789abcdef0],
         httpsProxy: "http://proxy.example.com:3128", noProxy: [dynamodb.eu-central-1.amazonaws.com, .example.com] }
  pageTopicArn: "arn:aws:sns:eu-central-1:111122223333:page"
  ticketTopicArn: "arn:aws:sns:eu-central-1:111122223333:ticket"
clusters:
  - id: watched
    relay: { identity: { type: pod-identity, clusterName: watched } }
  - id: eks
    concurrency: { ingest: 3, sync: 4 }
    api: { url: "https://eks.example.com", ca: "${authorityData}", auth: { type: eks, clusterName: eks, accessEntry: true } }
    relay: { identity: { type: irsa, oidcProviderArn: "arn:aws:iam::111122223333:oidc-provider/oidc.example.com/id/A1" } }
  - id: elsewhere
    api:
      url: https://elsewhere.example.com
      ca: ${authorityData}
      auth: { type: eks, clusterName: elsewhere, region: eu-west-1, roleArn: "arn:aws:iam::444455556666:role/elsewhere" }
    relay: { identity: { type: existing-role, roleArn: "arn:aws:iam::444455556666:role/elsewhere-relay" } }
  - id: own
    alarms: page
    mode: active
    api: { url: "https://own.example.com:6443", auth: { type: web-identity, audience: own } }
    relay: { identity: { type: existing-role, roleArn: "arn:aws:iam::111122223333:role/own-relay" } }
  - id: secret
    api: { url: "https://secret.example.com:6443", auth: { type: secret, secretArn: "arn:aws:secretsmanager:eu-central-1:111122223333:secret:s-AbCdEf" } }
    relay: { identity: { type: existing-role, roleArn: "arn:aws:iam::111122223333:role/secret-relay" } }
`;
