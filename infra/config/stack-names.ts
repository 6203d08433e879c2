export const snapshotStackName = (hub: string): string => `${hub}-snapshot`;
export const hubStackName = (hub: string): string => `${hub}-hub`;
export const clusterStackName = (hub: string, cluster: string): string => `${hub}-cluster-${cluster}`;
