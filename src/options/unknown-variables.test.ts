import { expect, it } from 'vitest';
import { optionNames, variableOf } from './table.ts';
import { unknownVariables } from './unknown-variables.ts';

it('names the variable that was probably meant, and never a value', () => {
  const told = unknownVariables({
    BATCHLING_BATCHSIZE: 'sk-secret',
    BATCHLING_WINDWO: '1s',
    PATH: '',
  });
  expect(told).toEqual([
    'The environment variable BATCHLING_BATCHSIZE means nothing to batchling. Did you mean BATCHLING_BATCH_SIZE?',
    'The environment variable BATCHLING_WINDWO means nothing to batchling. Did you mean BATCHLING_WINDOW?',
  ]);
});

it('says where all are when it is like none of them', () => {
  expect(unknownVariables({ BATCHLING_ZZZZZZ: '' })).toEqual([
    'The environment variable BATCHLING_ZZZZZZ means nothing to batchling. docs/options.md lists all.',
  ]);
});

it('says nothing of those that are known', () => {
  const names = ['BATCHLING_RUN', ...optionNames.flatMap((option) => variableOf(option) ?? [])];
  expect(unknownVariables(Object.fromEntries(names.map((name) => [name, 'x'])))).toEqual([]);
});
