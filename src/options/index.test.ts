import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type BatchifyOptions,
  optionNames,
  optionTable,
  resolveOptions,
  variableOf,
} from './index.ts';

const nothing = {};
const resolved = (given?: BatchifyOptions, environment: Record<string, string> = {}) =>
  resolveOptions(given, undefined, environment);

describe('defaults', () => {
  it('are those of the contract', () => {
    const { store, logger, clock, ...rest } = resolved();
    expect(rest).toEqual({
      batchSize: undefined,
      window: 5000,
      maxWindow: 60_000,
      poll: { minimum: 10_000, maximum: 60_000 },
      completionWindow: 86_400_000,
      maxInFlight: undefined,
      minBatch: 1,
      onSmallBatch: 'realtime',
      canary: false,
      primeCache: false,
      lane: 'batch',
      attempts: 3,
      deadline: undefined,
      onDeadline: 'error',
      onSlow: 'wait',
      realtimeConcurrency: 8,
      budget: undefined,
      dryRun: false,
      cache: true,
      retention: 30 * 86_400_000,
      maxStoreSize: undefined,
      keep: 'answers',
      onStoreError: 'error',
      cleanup: true,
      hosts: [],
      only: undefined,
      bypass: 'warn',
      providers: {},
      batchers: [],
      webhook: undefined,
      signal: undefined,
      name: undefined,
      tags: {},
      display: undefined,
      dispatcher: undefined,
      hooks: true,
    });
    expect(store).toMatch(/batchling[\\/]ledger\.db$/);
    expect(logger.warn('nobody hears this')).toBeUndefined();
    const before = Date.now();
    expect(clock.now()).toBeGreaterThanOrEqual(before);
    expect(clock.now()).toBeLessThanOrEqual(Date.now());
  });

  it('count for every option that is given as undefined', () => {
    const given = Object.fromEntries(optionNames.map((name) => [name, undefined]));
    expect(resolved(given)).toEqual(resolved());
  });

  it('are frozen', () => {
    expect(Object.isFrozen(resolved())).toBe(true);
  });
});

describe('precedence', () => {
  const environment = { BATCHLING_ATTEMPTS: '7', BATCHLING_NAME: 'from the environment' };

  it('is given, inherited, environment, default', () => {
    const parent = resolveOptions({ attempts: 5 }, undefined, environment);
    expect(parent).toMatchObject({ attempts: 5, name: 'from the environment', minBatch: 1 });
    const child = resolveOptions({ minBatch: 2 }, parent, { BATCHLING_ATTEMPTS: '9' });
    expect(child).toMatchObject({ attempts: 5, name: 'from the environment', minBatch: 2 });
    expect(resolveOptions({ attempts: 1 }, child, environment).attempts).toBe(1);
  });

  it('lets null undo what would be inherited', () => {
    const signal = new AbortController().signal;
    const parent = resolved({
      deadline: '1h',
      budget: 5,
      maxStoreSize: 100,
      signal,
      name: 'a',
      tags: { a: 'b' },
    });
    const none = {
      deadline: null,
      budget: null,
      maxStoreSize: null,
      signal: null,
      webhook: null,
      name: null,
    };
    expect(resolveOptions({ ...none, tags: null }, parent, nothing)).toEqual(resolved());
  });

  it('does not read the environment again below the outermost scope', () => {
    const child = resolveOptions(undefined, resolved(), { BATCHLING_ATTEMPTS: 'many' });
    expect(child.attempts).toBe(3);
  });
});

describe('window and maxWindow', () => {
  it.each<[BatchifyOptions, number[]]>([
    [{ window: '2m' }, [120_000, 120_000]],
    [{ maxWindow: '1s' }, [1000, 1000]],
    [{ window: 0 }, [0, 60_000]],
    [{ window: '1s', maxWindow: '1s' }, [1000, 1000]],
  ])('of %j fit together', (given, expected) => {
    const { window, maxWindow } = resolved(given);
    expect([window, maxWindow]).toEqual(expected);
  });

  it('bend to the one asked for more closely', () => {
    const parent = resolved({ maxWindow: '30s' });
    expect(resolveOptions({ window: '1m' }, parent, nothing).maxWindow).toBe(60_000);
    expect(resolved({ maxWindow: '2s' }, { BATCHLING_WINDOW: '3s' }).window).toBe(2000);
  });
});

describe('values', () => {
  it.each<[BatchifyOptions, object]>([
    [{ poll: '30s' }, { poll: { minimum: 30_000, maximum: 30_000 } }],
    [{ poll: 200 }, { poll: { minimum: 200, maximum: 200 } }],
    [{ poll: '1.5s..2m' }, { poll: { minimum: 1500, maximum: 120_000 } }],
    [{ completionWindow: '1d' }, { completionWindow: 86_400_000 }],
    [{ deadline: '6h' }, { deadline: 21_600_000 }],
    [{ deadline: new Date(5) }, { deadline: new Date(5) }],
    [{ maxStoreSize: '500MB' }, { maxStoreSize: 500_000_000 }],
    [{ maxStoreSize: '1.5 gb' }, { maxStoreSize: 1_500_000_000 }],
    [{ maxStoreSize: 4096 }, { maxStoreSize: 4096 }],
    [{ budget: 0.5 }, { budget: 0.5 }],
    [{ store: ':memory:' }, { store: ':memory:' }],
    [{ store: 'ledger.db' }, { store: resolve('ledger.db') }],
    [{ store: '~/ledger.db' }, { store: join(homedir(), 'ledger.db') }],
    [{ tags: { team: 'search' } }, { tags: { team: 'search' } }],
    [{ logger: console }, { logger: console }],
    [
      { providers: { openai: { priceShare: 0.4 } } },
      { providers: { openai: { priceShare: 0.4 } } },
    ],
  ])('%j', (given, expected) => {
    expect(resolved(given)).toMatchObject(expected);
  });

  it('copies what the user could change later', () => {
    const date = new Date(5);
    const tags: Record<string, string> = { a: 'b' };
    const options = resolved({ deadline: date, tags });
    date.setTime(6);
    tags.a = 'c';
    expect(options).toMatchObject({ deadline: new Date(5), tags: { a: 'b' } });
  });
});

describe('environment variables', () => {
  it.each([
    ['BATCHLING_BATCH_SIZE', '100', { batchSize: 100 }],
    ['BATCHLING_WINDOW', '250', { window: 250 }],
    ['BATCHLING_MAX_WINDOW', '2m', { maxWindow: 120_000 }],
    ['BATCHLING_POLL', '1s..2s', { poll: { minimum: 1000, maximum: 2000 } }],
    ['BATCHLING_COMPLETION_WINDOW', '1h', { completionWindow: 3_600_000 }],
    ['BATCHLING_MAX_IN_FLIGHT', '2', { maxInFlight: 2 }],
    ['BATCHLING_DEADLINE', '6h', { deadline: 21_600_000 }],
    ['BATCHLING_ON_DEADLINE', 'realtime', { onDeadline: 'realtime' }],
    ['BATCHLING_ON_SLOW', 'flex', { onSlow: 'flex' }],
    ['BATCHLING_BUDGET', '$5.50', { budget: 5.5 }],
    ['BATCHLING_BUDGET', '5', { budget: 5 }],
    ['BATCHLING_DRY_RUN', 'Yes', { dryRun: true }],
    ['BATCHLING_CACHE', '0', { cache: false }],
    ['BATCHLING_HOOKS', 'no', { hooks: false }],
    ['BATCHLING_CLEANUP', 'false', { cleanup: false }],
    ['BATCHLING_STORE', ':memory:', { store: ':memory:' }],
    ['BATCHLING_MAX_STORE_SIZE', '2GB', { maxStoreSize: 2_000_000_000 }],
    ['BATCHLING_TAGS', 'team=search, run=a=b', { tags: { team: 'search', run: 'a=b' } }],
    ['BATCHLING_DISPLAY', 'json', { display: 'json' }],
    ['BATCHLING_ATTEMPTS', '  ', { attempts: 3 }],
    ['BATCHLING_ATTEMPTS', '', { attempts: 3 }],
  ])('%s=%s', (variable, text, expected) => {
    expect(resolved({}, { [variable]: text })).toMatchObject(expected);
  });

  it('BATCHLING_HOSTS holds pairs', () => {
    const text = 'http://127.0.0.1:8000/v1=openai, proxy.example/a=b=anthropic,';
    const { hosts } = resolved({}, { BATCHLING_HOSTS: text });
    expect(hosts.map(({ key, provider }) => [key, provider])).toEqual([
      ['http://127.0.0.1:8000/v1', 'openai'],
      ['proxy.example/a=b', 'anthropic'],
    ]);
  });

  it('BATCHLING_ONLY holds patterns', () => {
    const { only } = resolved({}, { BATCHLING_ONLY: 'openai' });
    expect(only?.({ provider: 'groq', model: 'm', endpoint: '', url: '' })).toBe(false);
  });

  it('ignores variables of batchling that are no options', () => {
    expect(resolved({}, { BATCHLING_RUN: 'abc', BATCHLING_LOGGER: 'x' })).toEqual(resolved());
  });
});

describe('the table', () => {
  it('gives every option with a text form a variable, and the others none', () => {
    expect(variableOf('realtimeConcurrency')).toBe('BATCHLING_REALTIME_CONCURRENCY');
    expect(optionNames.filter((name) => variableOf(name) === undefined)).toEqual([
      'providers',
      'batchers',
      'signal',
      'logger',
      'dispatcher',
      'clock',
    ]);
  });

  it('explains every option', () => {
    for (const name of optionNames) {
      const { help, usual, allowed } = optionTable[name];
      expect([help, usual, allowed].every((text) => text.length > 0)).toBe(true);
    }
  });

  it('says the default in words that mean the default', () => {
    for (const name of optionNames) {
      const { usual } = optionTable[name];
      const variable = variableOf(name);
      if (variable === undefined || !/^(\d|true|false)/.test(usual)) continue;
      expect(resolved({}, { [variable]: usual })[name]).toEqual(resolved()[name]);
    }
  });
});
