/**
 * Ends the relay of a cluster in a local run, which then starts it again. Resolves to false if the run lacks
 * this relay.
 */
export async function restartLocalRelay(consoleUrl: string, cluster: string): Promise<boolean> {
  const answer = await fetch(`${consoleUrl}/healthz`);
  const { processes } = (await answer.json()) as {
    readonly processes: readonly { readonly name: string; readonly pid?: number }[];
  };
  const relay = processes.find(({ name }) => name === `relay ${cluster}`);
  return relay?.pid !== undefined && process.kill(relay.pid, 'SIGTERM');
}
