import { expect, it } from 'vitest';
import { readPage } from './code-blocks.ts';

it('docs/decisions.md has a line of reason for every dependency, and for no other package', () => {
  const { dependencies, peerDependencies, devDependencies } = JSON.parse(readPage('package.json'));
  const [, section = ''] = readPage('docs/decisions.md').split('\n## Dependencies\n');
  const named = [...section.matchAll(/\*\*([^*]+)\*\*/g)].map(([, name]) => name);
  const used = Object.keys({ ...dependencies, ...peerDependencies, ...devDependencies });
  expect(named.toSorted()).toEqual(used.toSorted());
});
