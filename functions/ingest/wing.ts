/** The door of services across clusters (docs/clusterset.md): what a batch does for them. */
import type { IngestPart } from './batch/batch-context.ts';
import { ingestForSet } from './clusterset/ingest-for-set.ts';

export const ingestParts: readonly IngestPart[] = [ingestForSet];
