/** A few names, and how many there are. */
import type { Pod } from '#shared/kube/types.ts';

export function someNames(names: readonly string[], most = 3): string {
  const shown = names.slice(0, most).join(', ');
  return names.length > most ? `${shown} and ${(names.length - most).toLocaleString('en')} more` : shown;
}

export const namedPods = (pods: readonly Pod[]): string =>
  `pod${pods.length === 1 ? '' : 's'} ${someNames(pods.map((p) => p.metadata.name))}`;
