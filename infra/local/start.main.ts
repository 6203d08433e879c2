/** `npm start`: the whole system on this machine. */
import { enableCompileCache } from 'node:module';
import { compileCache } from './compile-cache.ts';

// Before anything large is loaded.
enableCompileCache(compileCache);
const { main } = await import('./start.ts');
await main();
