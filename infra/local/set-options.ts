/** The options of a local run for services across clusters. */
export interface SetOptions {
  readonly imports: 'off' | 'shadow' | 'active';
  /** The namespaces that each cluster exports. */
  readonly exports: readonly string[] | 'all';
  readonly sameness: 'labelled' | 'all';
  /** Two clusters may have pods with the same addresses. */
  readonly allowOverlap: boolean;
}

/** As they were typed. */
export interface TypedSetOptions {
  readonly imports?: string;
  readonly exports?: string;
  readonly sameness?: string;
  readonly allowOverlap?: boolean;
}

export const alone: SetOptions = { imports: 'off', exports: [], sameness: 'labelled', allowOverlap: false };

export const joinsSet = ({ imports, exports }: Pick<SetOptions, 'imports' | 'exports'>): boolean =>
  imports !== 'off' || exports.length > 0;
