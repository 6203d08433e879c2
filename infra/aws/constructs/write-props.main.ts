/** `npm run props`: writes props.ts from the shape of clusters.yaml. */
import { writeFileSync } from 'node:fs';
import { propsText } from '#infra/config/schema-text.ts';

writeFileSync(new URL('./props.ts', import.meta.url), `${propsText()}\n`);
