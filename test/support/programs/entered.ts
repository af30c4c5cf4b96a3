import { batchify } from '../../../src/index.ts';
import { options, source } from './source.ts';

/** The storage of scopes is used for the first time here: nothing else runs in this process. */
async function inScope(): Promise<string[]> {
  await using _scope = await batchify(options).enter();
  const first = await source();
  await new Promise((resolve) => setTimeout(resolve, 5));
  return [first, await source()];
}

const siblings = await Promise.all([source(), inScope(), source(), inScope(), source()]);
const afterwards = await source();
const { inside } = await import('./entered-module.ts');
console.log(JSON.stringify({ siblings, afterwards, inside, atTheEnd: await source() }));
