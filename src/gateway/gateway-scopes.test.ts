import { expect, it } from 'vitest';
import { GatewayScopes } from './gateway-scopes.ts';

const manyNames = Array.from({ length: 20 }, (_, index) => `job ${index}`);

it('scopes whose requests have ended make room for others', () => {
  const scopes = new GatewayScopes({ store: ':memory:', hooks: false }, 'multi', manyNames.length);
  for (const name of manyNames) scopes.lend(name, { name }).giveBack();
  expect(() => scopes.lend('one more', { name: 'one more' }).giveBack()).not.toThrow();
});

it('clients that use up all of them do not hold up those that ask for no options', () => {
  const scopes = new GatewayScopes({ store: ':memory:', hooks: false }, 'multi', manyNames.length);
  const lent = manyNames.map((name) => scopes.lend(name, { name }));
  expect(() => scopes.lend('one more', { name: 'one more' })).toThrow('different options');
  scopes.lend('[]', {}).giveBack();
  for (const one of lent) one.giveBack();
});
