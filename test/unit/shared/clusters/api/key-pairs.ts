/**
 * Two client certificates that sign themselves, good for nothing but these tests:
 * openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 36500 -subj /CN=former -addext
 * subjectAltName=IP:127.0.0.1
 */
export interface KeyPair {
  readonly clientCertificate: string;
  readonly clientKey: string;
}

export const former: KeyPair = {
  clientCertificate: `-----BEGIN CERTIFICATE-----
MIIBiTCCATCgAwIBAgIUF/tYna2JoU9lO+gB23J8QDxubcEwCgYIKoZIzj0EAwIw
ETEPMA0GA1UEAwwGZm9ybWVyMCAXDTI2MTEyMTE2MzA0M1oYDzIxMjYxMDI4MTYz
MDQzWjARMQ8wDQYDVQQDDAZmb3JtZXIwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
AASh1faj2iWbzAivjBF8VR8LldbdrjmZ5DU3fm+lyDY8+d8otmXmRUSptijTqpCz
jdD/46rTBl8HduPAh3BjGB9ao2QwYjAdBgNVHQ4EFgQUz2caKp5C0AdGFBL8Jizv
W+kbfZYwHwYDVR0jBBgwFoAUz2caKp5C0AdGFBL8JizvW+kbfZYwDwYDVR0TAQH/
BAUwAwEB/zAPBgNVHREECDAGhwR/AAABMAoGCCqGSM49BAMCA0cAMEQCIEuV9x8j
s4anL6/rjqbpO4VmgwRV/R1UnApx8FR/OxhAAiB3d+L3UgC7+5wqFEOoMs0Ym/BB
RIMKU4CO1A5FJii8CA==
-----END CERTIFICATE-----
`,
  clientKey: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgrGWrNVyW+5CFHHyO
m/UACFCly2EWKKSjv4dbrlKCEpehRANCAASh1faj2iWbzAivjBF8VR8LldbdrjmZ
5DU3fm+lyDY8+d8otmXmRUSptijTqpCzjdD/46rTBl8HduPAh3BjGB9a
-----END PRIVATE KEY-----
`,
};

export const renewed: KeyPair = {
  clientCertificate: `-----BEGIN CERTIFICATE-----
MIIBjTCCATKgAwIBAgIUBdV8G2My++jj6x0ywzoGvOv2Fs0wCgYIKoZIzj0EAwIw
EjEQMA4GA1UEAwwHcmVuZXdlZDAgFw0yNjExMjExNjMwNDNaGA8yMTI2MTAyODE2
MzA0M1owEjEQMA4GA1UEAwwHcmVuZXdlZDBZMBMGByqGSM49AgEGCCqGSM49AwEH
A0IABMYvkZH6i0AaoflR51Riuawl++4kIL2oC8Bsv7JDjSWQOBz+8TyslfB5n5/O
hHXypJAcQ8hMALiOU+gWzvah+lCjZDBiMB0GA1UdDgQWBBRTCnEdNtyRBkSEiPfE
MPKerIY5gzAfBgNVHSMEGDAWgBRTCnEdNtyRBkSEiPfEMPKerIY5gzAPBgNVHRMB
Af8EBTADAQH/MA8GA1UdEQQIMAaHBH8AAAEwCgYIKoZIzj0EAwIDSQAwRgIhAIyx
OBGgoZ5udYU7TtnevKYB80IH17NpFUnI3AYk2+pMAiEA3TkNnK5IvjHd64e3ugHG
5WIq0eejEji+E6wToVVcJB8=
-----END CERTIFICATE-----
`,
  clientKey: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgPfKKS6hrZVdwkb00
xVdvLL9J8xs1x3AJJQxeJbeiOa6hRANCAATGL5GR+otAGqH5UedUYrmsJfvuJCC9
qAvAbL+yQ40lkDgc/vE8rJXweZ+fzoR18qSQHEPITAC4jlPoFs72ofpQ
-----END PRIVATE KEY-----
`,
};
