import { expect, it } from 'vitest';
import { exportedFunctions, noSuchExport } from './exported-functions.ts';

const one = () => 1;
const two = () => 2;

it.each([
  ['an ES module', { one, default: two, limit: 5 }, ['one', 'default']],
  ['a CommonJS module', { default: { one, limit: 5 }, 'module.exports': { one } }, ['one']],
  ['a CommonJS module whose names Node has found', { default: { one, two }, one }, ['one', 'two']],
  ['TypeScript in a CommonJS package', { default: { default: two } }, ['default']],
  ['a module with values only', { answer: 42 }, []],
])('finds the functions of %s', (_, module, names) => {
  expect([...exportedFunctions(module).keys()]).toEqual(names);
});

it('says which functions there are', () => {
  expect(noSuchExport('jobs.ts', 'absent', ['show', 'ask'])).toBe(
    'jobs.ts exports no function absent; it exports show, ask',
  );
  expect(noSuchExport('jobs.ts', 'main', [])).toBe(
    'jobs.ts exports no function, so none named main',
  );
});
