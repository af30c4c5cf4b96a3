import { expect, it } from 'vitest';
import { changeSettings, defaultSettings } from './settings.ts';

it('merges speed and limits instead of replacing them', () => {
  const settings = defaultSettings();
  changeSettings(settings, { speed: { running: 1 }, limits: { openai: { bytesPerBatch: 5 } } });
  changeSettings(settings, { limits: { openai: { enqueuedTokens: 6 } }, listLag: 7 });
  expect(settings.speed).toEqual({ ...defaultSettings().speed, running: 1 });
  expect(settings.limits).toEqual({ openai: { bytesPerBatch: 5, enqueuedTokens: 6 } });
  expect(settings.listLag).toBe(7);
});

it.each([
  [{ sped: 1 }, "Unknown simulator setting 'sped'"],
  [{ speed: { runing: 1 } }, "Unknown simulator setting 'speed.runing'"],
  [{ speed: 5 }, 'Simulator speed must be an object: 5'],
  [
    { limits: { openai: { bytesPerBatch: '5' } } },
    "'limits.openai.bytesPerBatch' must be a number",
  ],
  [{ listLag: -1 }, "'listLag' must be a number from 0 up: -1"],
  [{ foreignBatches: 'yes' }, "'foreignBatches' must be a boolean: yes"],
])('refuses %j and changes nothing', (change, message) => {
  const settings = defaultSettings();
  expect(() => changeSettings(settings, { listLag: 9, ...change })).toThrow(message);
  expect(settings).toEqual(defaultSettings());
});
