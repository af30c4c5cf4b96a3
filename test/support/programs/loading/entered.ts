import { batchify } from '../../../../src/index.ts';
import { options, source } from '../parts/source.ts';

/** The storage of scopes is used for the first time here: nothing else runs in this process. */
async function inScope(): Promise<string[]> {
  await using _scope = await batchify(options).enter();
  const first = await source();
  await new Promise((resolve) => setTimeout(resolve, 5));
  return [first, await source()];
}

/** Its call is made when the others are in their scopes. */
async function outside(): Promise<string> {
  for (let turn = 0; turn < 10; turn += 1) await null;
  return source();
}

const siblings = await Promise.all([outside(), inScope(), outside(), inScope(), outside()]);
const afterwards = await source();
const { inside } = await import('./entered-module.ts');
console.log(JSON.stringify({ siblings, afterwards, inside, atTheEnd: await source() }));
