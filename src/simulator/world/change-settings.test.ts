import { expect, it } from 'vitest';
import { changeSettings } from './change-settings.ts';
import { defaultSettings } from './settings.ts';

it('merges speed, limits, tiers and the cache instead of replacing them', () => {
  const settings = defaultSettings();
  changeSettings(settings, { speed: { running: 1 }, limits: { openai: { bytesPerBatch: 5 } } });
  changeSettings(settings, { limits: { openai: { enqueuedTokens: 6 } }, listLag: 7 });
  expect(settings.speed).toEqual({ ...defaultSettings().speed, running: 1 });
  expect(settings.limits).toEqual({ openai: { bytesPerBatch: 5, enqueuedTokens: 6 } });
  expect(settings.listLag).toBe(7);
  changeSettings(settings, { flex: { openai: { delay: 1 } }, promptCache: { hits: 0.5 } });
  changeSettings(settings, { flex: { openai: { full: 'always' } } });
  expect(settings.flex).toEqual({ openai: { delay: 1, full: 'always' } });
  expect(settings.promptCache).toEqual({ hits: 0.5, minimum: null, automatic: true });
});

it.each([
  [{ sped: 1 }, "Unknown simulator setting 'sped'"],
  [{ speed: { runing: 1 } }, "Unknown simulator setting 'speed.runing'"],
  [{ speed: 5 }, 'Simulator speed must be an object: 5'],
  [
    { limits: { openai: { bytesPerBatch: '5' } } },
    "'limits.openai.bytesPerBatch' must be a number",
  ],
  [{ flex: { openai: { full: 'often' } } }, '\'flex.openai.full\' cannot be "often"'],
  [{ flex: { openai: { fulll: 'always' } } }, "Unknown simulator setting 'flex.openai.fulll'"],
  [{ promptCache: { hits: 2 } }, "'promptCache.hits' cannot be 2"],
  [{ usage: { reasons: 5 } }, "'usage.reasons' cannot be 5"],
  [{ usage: { reasoning: '5' } }, '\'usage.reasoning\' cannot be "5"'],
  [{ listLag: -1 }, "'listLag' must be a number from 0 up: -1"],
  [{ foreignBatches: 'yes' }, "'foreignBatches' must be a boolean: yes"],
])('refuses %j and changes nothing', (change, message) => {
  const settings = defaultSettings();
  expect(() => changeSettings(settings, { listLag: 9, ...change })).toThrow(message);
  expect(settings).toEqual(defaultSettings());
});
