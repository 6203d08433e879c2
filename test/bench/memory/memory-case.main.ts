/**
 * One case of `npm run bench -- memory`, in a process of its own: prints the most memory that the process
 * had, in MiB.
 */
import { cases } from './memory-cases.ts';

const [name = ''] = process.argv.slice(2);
await cases[name]?.run();
console.log(Math.round(process.resourceUsage().maxRSS / 1024));
