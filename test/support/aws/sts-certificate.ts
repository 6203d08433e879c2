/**
 * Signs itself, for the STS of tests alone:
 * openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 36500 -subj /CN=sts -addext
 * subjectAltName=DNS:sts.us-east-1.amazonaws.com
 */
export const stsCertificate = `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUGSCvbOw8iOv+r+b0j5daXCPym9gwCgYIKoZIzj0EAwIw
DjEMMAoGA1UEAwwDc3RzMCAXDTI2MTEyNDA4NTQ0MVoYDzIxMjYxMDMxMDg1NDQx
WjAOMQwwCgYDVQQDDANzdHMwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASqSPqt
64C+UgLDK0ZfZQEApI702xKqvTfRIoTioMrVvsvk81c+7GFTw0cTUysQZqB+SY5I
Gr2aJ3uc+chPk+PZo3sweTAdBgNVHQ4EFgQU2r1h9duc2MnOo2cuva0xWUhta+ow
HwYDVR0jBBgwFoAU2r1h9duc2MnOo2cuva0xWUhta+owDwYDVR0TAQH/BAUwAwEB
/zAmBgNVHREEHzAdghtzdHMudXMtZWFzdC0xLmFtYXpvbmF3cy5jb20wCgYIKoZI
zj0EAwIDSAAwRQIgMb29kIM9U+LX7wo8rhpRNnrLS2J7OKrUYKTe4aIIZ1oCIQDj
psGxa/oMnze2o/a6janiUL9Rq865rqTscvz0zpYe/w==
-----END CERTIFICATE-----
`;
export const stsKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgXTo0e1h4+h67mEJr
qNSTc1yKQAMuEKHarRLqlFqkZsqhRANCAASqSPqt64C+UgLDK0ZfZQEApI702xKq
vTfRIoTioMrVvsvk81c+7GFTw0cTUysQZqB+SY5IGr2aJ3uc+chPk+PZ
-----END PRIVATE KEY-----
`;
