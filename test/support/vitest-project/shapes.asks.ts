import { expect, it } from 'vitest';
import { ask } from './ask.ts';

it.each(['circle', 'square', 'star'])('knows %s', async (name) => {
  expect(await ask(name)).toBe(`about ${name}`);
});
