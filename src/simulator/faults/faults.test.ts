import { expect, it } from 'vitest';
import { Faults } from './faults.ts';

const create = { method: 'POST', path: '/v1/batches', provider: 'openai' };
const reset = { kind: 'reset' } as const;

it('strikes once by default, after the requests it lets pass', () => {
  const faults = new Faults();
  const fault = faults.add({ skip: 1, action: reset });
  expect(faults.take(create)).toBeNull();
  expect(faults.take(create)).toEqual(reset);
  expect(faults.take(create)).toBeNull();
  expect(fault.hits).toBe(1);
});

it('strikes only what matches, the earliest rule first', () => {
  const faults = new Faults();
  faults.add({ method: 'GET', action: reset });
  faults.add({ path: '/v1', action: reset });
  faults.add({ provider: 'anthropic', action: reset });
  faults.add({ path: /batches$/g, times: 2, action: { kind: 'lost' } });
  faults.add({ action: { kind: 'garbage' } });
  const struck = [1, 2, 3, 4].map(() => faults.take(create)?.kind);
  expect(struck).toEqual(['lost', 'lost', 'garbage', undefined]);
});

it('forgets a fault that was removed, and all when cleared', () => {
  const faults = new Faults();
  faults.add({ action: reset }).remove();
  expect(faults.take(create)).toBeNull();
  faults.add({ action: reset });
  faults.nextBatch({ outcome: 'expired' });
  faults.clear();
  expect(faults.take(create)).toBeNull();
  expect(faults.takeScript()).toEqual({});
});

it('hands out batch scripts in the order they were written', () => {
  const faults = new Faults();
  faults.nextBatch({ outcome: 'expired' });
  faults.nextBatch({ stuckIn: 'validating' });
  expect(faults.takeScript()).toEqual({ outcome: 'expired' });
  expect(faults.takeScript()).toEqual({ stuckIn: 'validating' });
});
