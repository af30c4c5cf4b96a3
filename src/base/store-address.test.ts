import { expect, it } from 'vitest';
import { shownStore } from './store-address.ts';

it.each([
  [':memory:', ':memory:'],
  ['/some/ledger.db', '/some/ledger.db'],
  ['postgres://me:hunter2@host:5433/calls', 'postgres://host:5433/calls'],
  ['postgresql://me@host/calls?schema=mine&password=hunter2', 'postgres://host/calls?schema=mine'],
  ['postgres://me:hunter2#@host/calls', 'postgres://…'],
])('%s is shown without what is secret', (store, shown) => {
  expect(shownStore(store)).toBe(shown);
});
