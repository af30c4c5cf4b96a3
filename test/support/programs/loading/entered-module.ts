import { batchify } from '../../../../src/index.ts';
import { options, source } from '../parts/source.ts';

await using _scope = await batchify(options).enter();

/** Made at the top level of a module with a scope. */
export const inside = await source();
