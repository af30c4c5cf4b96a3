import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { BatchlingError } from '../../src/base/errors.ts';
import { builtInInfos } from '../../src/batchers/registry.ts';
import { optionNames, optionTable, resolveOptions } from '../../src/options/index.ts';

function refusal(given: unknown, environment: Record<string, string> = {}): BatchlingError {
  try {
    resolveOptions(given, undefined, environment);
  } catch (error) {
    if (error instanceof BatchlingError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

const time = 'a number of milliseconds, or text such as "250ms", "2s", "5m", "24h", "30d"';
const base =
  'base URLs with their provider, { "http://127.0.0.1:8000/v1": "openai" }: http or https, ' +
  'without user, password, query and fragment (in text base=provider,base=provider)';
const patterns =
  'a function (call) => boolean that is not async, or provider names with models after a colon, ' +
  '"openai,anthropic:claude-*"';
const labels =
  'an object of at most 12 texts, keys of 1 to 64 characters, values of at most 512, each on one ' +
  'line (in text key=value,key=value)';
const contract =
  'openai, azure, groq, together, mistral, xai, doubleword, sference, anthropic, google, vertex, ' +
  'deepinfra, nebius, parasail, siliconflow, dashscope, moonshot, zhipu, novita, openrouter, ' +
  'voyage, ovhcloud, qianfan, perplexity, fireworks, bedrock';
const built = builtInInfos.map(({ name }) => name);
const names = [...new Set([...contract.split(', '), ...built])].join(', ');
const integer = 'an integer of at least 1';
const flag = 'true or false (in text also 1, 0, yes, no)';
const timer = `${time}, at most 24d`;
const classes = 'an array of Batcher classes (the classes, not instances)';
const poll = 'a duration or a range "10s..60s", above 0, at most 24d';
const size = 'a whole number of bytes above 0, or text such as "500MB", "2GB"';
const dollars = 'dollars, as a number above 0 (in text also "$5")';
const manyTags = Object.fromEntries(Array.from({ length: 13 }, (_, index) => [`k${index}`, 'v']));
const loud = { debug() {}, info() {}, warn() {} };

const bareDispatcher = { dispatch() {} };
const dispatching = 'an undici Dispatcher (an object with the methods dispatch and request)';

class Bare {}

describe('a bad option says its name, its value and what is allowed', () => {
  it.each<[string, unknown, string, string]>([
    ['batchSize', 0, '0', integer],
    ['batchSize', 1.5, '1.5', integer],
    ['batchSize', '10', '"10"', integer],
    ['batchSize', Number.NaN, 'NaN', integer],
    ['batchSize', 10n, '10', integer],
    ['batchSize', null, 'null', integer],
    ['window', -1, '-1', timer],
    ['window', '5 parsecs', '"5 parsecs"', timer],
    ['window', Number.POSITIVE_INFINITY, 'Infinity', timer],
    ['window', '25d', '"25d"', timer],
    ['maxWindow', ['5s'], 'an array', timer],
    ['poll', 0, '0', poll],
    ['poll', '60s..10s', '"60s..10s" (the first is larger than the second)', poll],
    ['poll', '1s..2s..3s', '"1s..2s..3s"', poll],
    ['poll', '1s..soon', '"1s..soon"', poll],
    ['completionWindow', 0, '0', `${time}; above 0`],
    ['maxInFlight', 0, '0', integer],
    ['minBatch', -1, '-1', integer],
    ['attempts', 0, '0', integer],
    ['deadline', new Date('never'), 'an invalid Date', `${time}; above 0; or a valid Date`],
    ['deadline', 0, '0', `${time}; above 0; or a valid Date`],
    ['onDeadline', 'panic', '"panic"', '"error", "realtime", "flex"'],
    ['canary', 'bird', '"bird"', 'true, false, "call" or "batch" (in text also 1, 0, yes, no)'],
    ['onSlow', 'cancel', '"cancel"', '"wait", "flex", "realtime"'],
    ['realtimeConcurrency', 0, '0', integer],
    ['budget', 0, '0', dollars],
    ['budget', '$5', '"$5"', dollars],
    ['budget', Number.POSITIVE_INFINITY, 'Infinity', dollars],
    ['dryRun', 'true', '"true"', 'true, false or "deep" (in text also 1, 0, yes, no)'],
    ['cache', 1, '1', flag],
    ['store', '', '""', 'the path of a file, ":memory:", or postgres://user@host/database'],
    ['store', 5, '5', 'the path of a file, ":memory:", or postgres://user@host/database'],
    [
      'store',
      'mysql://h/d',
      '(not shown) (a URL)',
      'the path of a file, ":memory:", or postgres://user@host/database',
    ],
    ['retention', 'forever', '"forever"', `${time}; above 0`],
    ['maxStoreSize', '5 apples', '"5 apples"', size],
    ['maxStoreSize', 0, '0', size],
    ['keep', 'some', '"some"', '"answers", "all", "none"'],
    ['onStoreError', true, 'true', '"error", "continue"'],
    ['cleanup', 'no', '"no"', flag],
    ['hosts', 'proxy.example', '"proxy.example"', base],
    ['hosts', new Map(), 'an object (Map)', base],
    ['hosts', { 'ftp://h': 'openai' }, '"ftp://h" (only http and https)', base],
    ['hosts', { 'https:/h': 'openai' }, '"https:/h" (not a base URL)', base],
    ['hosts', { 'http://h:port': 'openai' }, '"http://h:port" (not a base URL)', base],
    ['hosts', { '*.example': 'openai' }, '"*.example" (not a base URL)', base],
    ['hosts', { '': 'openai' }, '"" (not a base URL)', base],
    ['hosts', { h: 5 }, '5 (not a provider name)', base],
    ['hosts', { h: 'opnai' }, '"opnai" (not a provider name; did you mean "openai"?)', base],
    ['hosts', { h: 'acme' }, `"acme" (not a provider name; they are ${names})`, base],
    ['hosts', { h: 'openai', 'h/': 'groq' }, '"h/" (the same base twice)', base],
    ['only', 5, '5', patterns],
    ['only', ',', '","', patterns],
    ['only', async () => true, 'a function (it is async)', patterns],
    ['only', 'opnai', '"opnai" (not a provider name; did you mean "openai"?)', patterns],
    ['only', 'gpt-*', '"gpt-*" (no provider has such a name)', patterns],
    ['only', 'openai:', '"openai:" (no model after the colon)', patterns],
    ['bypass', 'silent', '"silent"', '"warn", "error", "ignore"'],
    ['batchers', {}, 'an object', classes],
    ['batchers', [{}], 'an object (at index 0)', classes],
    ['batchers', [Bare, () => {}], 'a function (at index 1)', classes],
    ['signal', new AbortController(), 'an object (AbortController)', 'an AbortSignal'],
    ['signal', 'stop', '"stop"', 'an AbortSignal'],
    ['name', '', '""', 'one line of 1 to 64 characters'],
    ['name', 'two\nlines', '"two\\nlines"', 'one line of 1 to 64 characters'],
    ['name', '- '.repeat(40), `"${'- '.repeat(19)}-…"`, 'one line of 1 to 64 characters'],
    ['tags', 'a=b', '"a=b"', labels],
    ['tags', { a: 5 }, '(not shown) (the value of "a")', labels],
    ['tags', { '': 'b' }, '"" (as a key)', labels],
    ['tags', manyTags, 'an object (13 tags)', labels],
    ['display', 'loud', '"loud"', '"live", "plain", "json", "none"'],
    ['logger', loud, 'an object', 'an object with the methods debug, info, warn and error'],
    ['dispatcher', bareDispatcher, '(not shown)', dispatching],
    ['clock', Date, 'a function', 'an object with the methods now, setTimeout and clearTimeout'],
    ['hooks', 'off', '"off"', flag],
  ])('%s: %o', (option, value, shown, allowed) => {
    const error = refusal({ [option]: value });
    expect(error.message).toBe(`Invalid option ${option}: ${shown}. Allowed: ${allowed}.`);
    expect(error.code).toBe('INVALID_OPTION');
    expect(error.facts).toEqual({ option, allowed });
  });

  it('knows of null only where it means none', () => {
    const nullable = ['deadline', 'budget', 'maxStoreSize', 'signal', 'name', 'tags', 'webhook'];
    for (const option of optionNames.filter((name) => !nullable.includes(name))) {
      expect(refusal({ [option]: null })).toMatchObject({ code: 'INVALID_OPTION' });
    }
  });

  it('refuses windows that contradict each other', () => {
    const message = (place: string) =>
      `Invalid option ${place}: 1s (shorter than window, 5s). Allowed: ${timer}.`;
    expect(refusal({ window: '5s', maxWindow: '1s' }).message).toBe(message('maxWindow'));
    const environment = { BATCHLING_WINDOW: '5s', BATCHLING_MAX_WINDOW: '1s' };
    expect(refusal({}, environment).message).toBe(message('maxWindow (BATCHLING_MAX_WINDOW)'));
  });
});

describe('a bad environment variable is named too', () => {
  it.each<[string, string, string, string]>([
    ['batchSize', 'BATCHLING_BATCH_SIZE', 'many', '"many"'],
    ['batchSize', 'BATCHLING_BATCH_SIZE', '1e3', '"1e3"'],
    ['window', 'BATCHLING_WINDOW', '5 parsecs', '"5 parsecs"'],
    ['poll', 'BATCHLING_POLL', 'often', '"often"'],
    ['budget', 'BATCHLING_BUDGET', '-5', '-5'],
    ['budget', 'BATCHLING_BUDGET', '€5', '"€5"'],
    ['dryRun', 'BATCHLING_DRY_RUN', 'maybe', '"maybe"'],
    ['keep', 'BATCHLING_KEEP', 'some', '"some"'],
    ['hosts', 'BATCHLING_HOSTS', 'h', '"h" (a pair is written key=value)'],
    ['hosts', 'BATCHLING_HOSTS', 'h=openai,h=groq', '"h" (given twice)'],
    ['only', 'BATCHLING_ONLY', 'gpt-*', '"gpt-*" (no provider has such a name)'],
    ['tags', 'BATCHLING_TAGS', 'urgent', '"urgent" (a pair is written key=value)'],
    ['deadline', 'BATCHLING_DEADLINE', 'tomorrow', '"tomorrow"'],
  ])('%s by %s=%s', (option, variable, text, shown) => {
    const { allowed } = optionTable[option as keyof typeof optionTable];
    const error = refusal({}, { [variable]: text });
    expect(error.message).toBe(
      `Invalid option ${option} (${variable}): ${shown}. Allowed: ${allowed}.`,
    );
    expect(error.facts).toEqual({ option, allowed });
  });

  it('is not looked at when the option is given', () => {
    const options = resolveOptions({ attempts: 1 }, undefined, { BATCHLING_ATTEMPTS: 'many' });
    expect(options.attempts).toBe(1);
  });
});

describe('an unknown option', () => {
  it.each([
    ['batchsize', 'batchSize'],
    ['batch_size', 'batchSize'],
    ['bacthSize', 'batchSize'],
    ['windows', 'window'],
    ['host', 'hosts'],
    ['onDedline', 'onDeadline'],
  ])('%s is taken for %s', (given, meant) => {
    const error = refusal({ [given]: 1 });
    expect(error.message).toBe(`Unknown option "${given}". Did you mean ${meant}?`);
    expect(error).toMatchObject({
      code: 'INVALID_OPTION',
      facts: { option: given, allowed: meant },
    });
  });

  it('that resembles none is answered with the list', () => {
    expect(refusal({ frobnicate: 1 }).message).toBe(
      `Unknown option "frobnicate". The options are ${optionNames.join(', ')}.`,
    );
    expect(refusal({ constructor: 1 }).message).toContain('Unknown option "constructor"');
  });
});

describe('options that are no object', () => {
  it.each<[unknown, string]>([
    [null, 'null'],
    ['5s', '"5s"'],
    [[], 'an array'],
    [() => {}, 'a function'],
    [new Map(), 'an object (Map)'],
  ])('%o', (given, shown) => {
    expect(refusal(given).message).toBe(`Invalid options: ${shown}. Allowed: an object.`);
  });
});

it('the URL of a PostgreSQL ledger is no path', () => {
  const store = 'postgresql://me:secret@h/d?schema=mine';
  expect(resolveOptions({ store }, undefined, {}).store).toBe(store);
  const fromVariable = resolveOptions({}, undefined, { BATCHLING_STORE: store });
  expect(fromVariable.store).toBe(store);
});

describe('a credential is never printed', () => {
  const secret = 'hunter2';
  const key = `sk-${secret}`;
  const throwing = class {
    constructor() {
      throw new Error(`bad key ${key}`);
    }
  };

  it.each<[string, Record<string, unknown>, Record<string, string>?]>([
    ['as a setting of a provider', { providers: { azure: key } }],
    ['in place of the settings', { providers: key }],
    ['as the name of a provider', { providers: { [key]: {} } }],
    ['as a dispatcher', { dispatcher: `http://me:${secret}@proxy` }],
    ['in an object that is no dispatcher', { dispatcher: { uri: key } }],
    ['in the URL of a ledger', { store: `postgres://me:${secret}#@h/d` }],
    ['in the URL of another ledger', { store: `mysql://me:${secret}@h/d` }],
    ['as the user of a base URL', { hosts: { [`https://me:${secret}@h/v1`]: 'openai' } }],
    ['without a scheme', { hosts: { [`me:${secret}@h`]: 'openai' } }],
    ['with a slash in it', { hosts: { [`https://me:${secret}/x@h`]: 'openai' } }],
    ['in the query of a base URL', { hosts: { [`https://h/v1?k=${secret}`]: 'openai' } }],
    ['in a variable', {}, { BATCHLING_HOSTS: `https://me:a,${secret}@h=openai` }],
    ['in the query of a variable', {}, { BATCHLING_HOSTS: `https://h?k=a,${secret}` }],
    ['in a ledger variable', {}, { BATCHLING_STORE: `postgres://me:${secret}#@h/d` }],
    ['in the wrong variable', {}, { BATCHLING_DISPLAY: key }],
    ['in the wrong option', { keep: key }],
    ['as a header', { only: `Bearer ${secret}` }],
    ['under an unknown name', { apiKey: key }],
    ['as an unknown name', { [key]: 1 }],
    ['as a tag', { tags: { a: `${secret}\n` } }],
    ['in the error of a batcher', { batchers: [throwing], only: 'openai' }],
  ])('%s', (_where, given, environment) => {
    const error = refusal(given, environment);
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(secret);
    expect(JSON.stringify(error)).not.toContain(secret);
  });
});
