/** How to reach one cluster's API: what a kubeconfig comes down to. Never an exec plug-in or a file name from outside. */
export interface Connection {
  /** https://host:port, or http:// for the embedded server of local runs. */
  readonly server: string;
  /** PEM. */
  readonly ca?: string;
  readonly serverName?: string;
  readonly insecureSkipTlsVerify?: boolean;
  /** PEM, both or neither. */
  readonly clientCertificate?: string;
  readonly clientKey?: string;
  readonly token?: string;
}

/** Gives the bearer token for the next request; `refresh` is true once after a 401. */
export type TokenSource = (refresh: boolean) => Promise<string | undefined>;
