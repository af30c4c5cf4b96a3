import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { startSimulator } from '../../../src/simulator/index.ts';
import { LeapingClock } from '../../guarantees/leaping-clock.ts';
import { chatRequest } from '../../support/ask.ts';

const minute = 60_000;

it('a good poll ends the time for which a batch was not found: it is not sent again', async () => {
  const clock = new LeapingClock(24 * 60 * minute);
  const simulator = await startSimulator({ clock, speed: { running: 120 * minute } });
  const folder = await mkdtemp(join(tmpdir(), 'batchling-not-found-'));
  try {
    const path = /^\/v1\/batches\/[^/]+$/;
    const action = { kind: 'status', status: 404 } as const;
    const faults = [1, 8].map((skip) => simulator.faults.add({ path, skip, action }));
    const scope = batchify({
      ...{ store: join(folder, 'ledger.db'), clock, window: '1s', poll: '5m' },
      hosts: { [simulator.baseUrl('openai')]: 'openai' },
    });
    const url = `${simulator.baseUrl('openai')}/chat/completions`;
    const answered = scope.run(() => fetch(url, chatRequest('still there')));
    const response = await Promise.race([answered, clock.overslept]);
    await scope.close();
    expect(response.status).toBe(200);
    expect(faults.map(({ hits }) => hits)).toEqual([1, 1]);
    expect(simulator.batches()).toHaveLength(1);
    expect(simulator.meter.total).toBe(1);
  } finally {
    clock.stop();
    await simulator.close();
    await rm(folder, { recursive: true, force: true });
  }
});
