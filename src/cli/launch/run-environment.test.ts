import { expect, it } from 'vitest';
import { runEnvironment } from './run-environment.ts';

it.each([
  ['an empty value', { name: '' }, '--name: it cannot be empty. Allowed: '],
  ['a bad switch', { cache: 'maybe' }, '--cache: it cannot be "maybe". Allowed: '],
  ['a value for --detach', { detach: '5' }, '--detach: it takes no value'],
  ['an unknown provider', { hosts: 'a.example=opnai' }, '--hosts: it cannot be'],
  ['a missing config file', { config: 'no.ts' }, '--config: there is no file'],
  ['a config file of another kind', { config: 'README.md' }, 'must be a .ts, .js, .mjs or .json'],
  [
    'flags that do not fit together',
    { window: '2s', maxWindow: '1s' },
    'Invalid option maxWindow (BATCHLING_MAX_WINDOW)',
  ],
])('refuses %s', (_, flags, told) => {
  expect(() => runEnvironment(flags, {})).toThrow(told);
});

it.each([
  ['BATCHLING_ATTEMPTS', 'many'],
  ['BATCHLING_RUN', 'a name'],
])('refuses a bad variable %s', (name, value) => {
  expect(() => runEnvironment({}, { [name]: value })).toThrow(name);
});

it('names the run, and continues the one around it', () => {
  const { variables, isInner } = runEnvironment({}, {});
  expect(variables.BATCHLING_RUN).toMatch(/^[\w-]+$/);
  expect(isInner).toBe(false);
  const around = { BATCHLING_RUN: 'outer', BATCHLING_REPORT: import.meta.dirname };
  expect(runEnvironment({}, around)).toMatchObject({
    variables: { BATCHLING_RUN: 'outer' },
    isInner: true,
  });
});

it('gives a flag to the processes of the run although a variable says otherwise', () => {
  const inherited = { BATCHLING_ATTEMPTS: '7', BATCHLING_MIN_BATCH: '2' };
  expect(runEnvironment({ attempts: '1' }, inherited).variables).toMatchObject({
    BATCHLING_ATTEMPTS: '1',
    BATCHLING_MIN_BATCH: '2',
  });
});
