import { afterAll, beforeAll, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { forGood, hour, requests, status } from '../../guarantees/fault-case.ts';
import { LeapingClock } from '../../guarantees/leaping-clock.ts';
import { chatRequest } from '../../support/ask.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

it.each([
  ['poll', 'was answered with 302'],
  ['results', 'The service that stores the results did not send them.'],
] as const)(
  'who is told after a day that a batch cannot be read hears why: %s is redirected',
  async (what, why) => {
    const clock = new LeapingClock(40 * hour);
    // Results are read where a redirect leads; nothing else is.
    const headers = { location: `${stage.simulator.baseUrl('openai')}/storage` };
    const faults = [
      { ...requests[what], times: forGood, action: status(302, { headers }) },
      { path: '/v1/storage', times: forGood, action: status(403) },
    ].map((rule) => stage.simulator.faults.add(rule));
    const scope = batchify(stage.options({ clock, poll: '10m' }));
    const asked = scope.run(() => fetch(chatUrl(stage), chatRequest(what)));
    const response = await Promise.race([asked, clock.overslept]);
    expect(response.status).toBe(504);
    expect(await response.text()).toContain(why);
    await scope.close();
    for (const fault of faults) fault.remove();
    clock.stop();
  },
);
