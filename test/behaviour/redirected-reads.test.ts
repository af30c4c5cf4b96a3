import { afterAll, beforeAll, expect, it } from 'vitest';
import { batchify } from '../../src/index.ts';
import { forGood, hour, requests, status } from '../guarantees/fault-case.ts';
import { LeapingClock } from '../guarantees/leaping-clock.ts';
import { chatRequest } from '../support/ask.ts';
import { chatUrl } from '../support/source-of.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

it.each(['poll', 'results'] as const)(
  'who is told after a day that a batch cannot be read hears why: %s is redirected',
  async (what) => {
    const clock = new LeapingClock(40 * hour);
    const headers = { location: 'https://elsewhere.example/' };
    const rule = { ...requests[what], times: forGood, action: status(302, { headers }) };
    const fault = stage.simulator.faults.add(rule);
    const scope = batchify(stage.options({ clock, poll: '10m' }));
    const asked = scope.run(() => fetch(chatUrl(stage), chatRequest(what)));
    const response = await Promise.race([asked, clock.overslept]);
    expect(response.status).toBe(504);
    expect(await response.text()).toContain('was answered with 302');
    await scope.close();
    fault.remove();
    clock.stop();
  },
);
