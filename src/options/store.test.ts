import { describe, expect, it } from 'vitest';
import { defaultStore } from './store.ts';

describe('the default store', () => {
  it.each<[NodeJS.Platform, Record<string, string>, string]>([
    ['linux', { HOME: '/h' }, '/h/.cache/batchling/ledger.db'],
    ['linux', { HOME: '/h', XDG_CACHE_HOME: '/x' }, '/x/batchling/ledger.db'],
    ['linux', { HOME: '/h', XDG_CACHE_HOME: 'relative' }, '/h/.cache/batchling/ledger.db'],
    ['darwin', { HOME: '/h' }, '/h/Library/Caches/batchling/ledger.db'],
    ['win32', { LOCALAPPDATA: 'C:\\L' }, 'C:\\L\\batchling\\ledger.db'],
    ['win32', { USERPROFILE: 'C:\\U' }, 'C:\\U\\AppData\\Local\\batchling\\ledger.db'],
  ])('on %s with %j', (platform, environment, expected) => {
    expect(defaultStore(environment, platform)).toBe(expected);
  });
});
