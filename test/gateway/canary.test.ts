import { afterAll, beforeAll, expect, it } from 'vitest';
import { openStage, type Stage } from '../support/stage.ts';
import { type GatewayProcess, startGateway } from './start-gateway.ts';

let stage: Stage;
let gateway: GatewayProcess;

beforeAll(async () => {
  stage = await openStage({ answer: () => ({ status: 400, body: 'No such parameter.' }) });
  gateway = await startGateway(stage);
});
afterAll(async () => {
  await gateway.kill();
  await stage.close();
});

it('a client of the gateway asks for a canary by a header, and its kind is stopped', async () => {
  const headers = { 'x-batchling-canary': 'call', 'x-batchling-window': '300ms' };
  const answers = await Promise.all(['a', 'b', 'c', 'd'].map((one) => gateway.ask(one, headers)));
  expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 400]);
  for (const answer of answers) expect(await answer.text()).toContain('No such parameter.');
  const { simulator } = stage;
  expect(simulator.countRequests('POST', '/v1/chat/completions')).toBe(1);
  expect(simulator.countRequests('POST', '/v1/batches')).toBe(0);
});
