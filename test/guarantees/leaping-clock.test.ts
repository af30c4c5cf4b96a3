import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { hour } from './fault-case.ts';
import { LeapingClock } from './leaping-clock.ts';

let clock: LeapingClock;
beforeEach(() => {
  clock = new LeapingClock(10 * hour);
});
afterEach(() => clock.stop());

const sleep = (milliseconds: number) =>
  new Promise<void>((resolve) => clock.setTimeout(resolve, milliseconds));

it('lets hours pass in their order', async () => {
  const heard: string[] = [];
  const said = (word: string, after: number) => sleep(after).then(() => heard.push(word));
  await Promise.all([said('last', 9 * hour), said('first', 1), said('second', hour)]);
  expect(heard).toEqual(['first', 'second', 'last']);
  expect(clock.elapsed).toBe(9 * hour);
});

it('stands still while something is on the network', async () => {
  const server = createServer((_, response) => {
    setTimeout(() => response.end('late'), 30);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const asked = fetch(`http://127.0.0.1:${port}`);
  const slept = sleep(1);
  expect(await (await asked).text()).toBe('late');
  expect(clock.elapsed).toBe(0);
  await slept;
  expect(clock.elapsed).toBe(1);
  server.closeAllConnections();
  server.close();
});

it('stands still while something is on the disk', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'batchling-clock-'));
  const slept = sleep(1);
  for (let time = 0; time < 30; time += 1) await writeFile(join(folder, 'file'), 'text');
  expect(clock.elapsed).toBe(0);
  await slept;
  expect(clock.elapsed).toBe(1);
  await rm(folder, { recursive: true });
});

it('forgets a timer that was cleared', async () => {
  clock.clearTimeout(clock.setTimeout(() => expect.unreachable(), 1));
  await sleep(hour);
});

it('says so when nothing has happened for too long', async () => {
  void sleep(11 * hour);
  await expect(clock.overslept).rejects.toThrow('Nobody was answered in 10 hours');
});
