import { expect, it } from 'vitest';
import { resolveOptions } from '../../options/index.ts';
import { accountOf, isIdOf, readRequestId, requestId } from './request-id.ts';
import { Routes } from './routes.ts';

const salt = Buffer.from('a salt of this ledger');
const url = new URL('http://here/');
const routes = new Routes(resolveOptions({}, undefined, {}));
const openai = routes.place('openai')!;
const google = routes.place('google')!;
const account = (key: string) => accountOf(salt, openai, { authorization: `Bearer ${key}` }, url);
const facts = {
  provider: 'openai',
  target: '/v1/chat/completions',
  headers: {},
  options: '[]',
  row: 7,
  fingerprint: 'ab'.repeat(32),
  occurrence: 0,
};

it('is the id of the account that asked, and of no other', () => {
  const id = requestId(salt, account('sk-one'), facts);
  expect(readRequestId(id)).toEqual(facts);
  expect(isIdOf(salt, account('sk-one'), id)).toBe(true);
  expect(isIdOf(salt, account('sk-two'), id)).toBe(false);
  expect(isIdOf(Buffer.from('another ledger'), account('sk-one'), id)).toBe(false);
});

it('cannot be changed', () => {
  const id = requestId(salt, account('sk-one'), facts);
  const [, mac] = id.split('.');
  const changed = Buffer.from(JSON.stringify({ ...facts, row: 8 })).toString('base64url');
  expect(isIdOf(salt, account('sk-one'), `${changed}.${mac}`)).toBe(false);
});

it.each(['', 'x', 'a.b', `${'a'.repeat(20_000)}.${'b'.repeat(22)}`, `!!.${'b'.repeat(22)}`])(
  'is none: %.20s',
  (id) => expect(readRequestId(id)).toBeUndefined(),
);

it('knows an account by its key, whether a header or the query carries it', () => {
  const inHeader = accountOf(salt, google, { 'x-goog-api-key': 'g-key' }, url);
  const inQuery = accountOf(salt, google, {}, new URL('http://here/?key=g-key'));
  expect(inHeader).toEqual(inQuery);
});
