/** The door of services across clusters (docs/use/clusterset.md): what a batch does for them. */

import { ingestForSet } from '#functions/clusterset/ingest/ingest-for-set.ts';
import type { IngestPart } from './batch/batch-context.ts';

export const ingestParts: readonly IngestPart[] = [ingestForSet];
