import { expect, it } from 'vitest';
import { Redactor } from './redactor.ts';

it('takes out ids that end in eight digits, and leaves the dated names of models', () => {
  const redactor = new Redactor([]);
  expect(redactor.text('datasets/bl-q3vmx7k2-18303362')).toBe('datasets/bl-redacted1');
  expect(redactor.text('claude-sonnet-4-5-20250929')).toBe('claude-sonnet-4-5-20250929');
});

it('takes out who somebody is from fields of names and ids, whatever their type and spelling', () => {
  const redactor = new Redactor([]);
  const told = {
    account_id: 123456789012,
    organization: { id: 4242, slug: 'acme-research' },
    createdBy: 'Jane Doe',
    creator: 'jane',
    'user-id': 'jd-1',
    customer: 'Acme',
    create_api_key_id: 'laptop',
    path: 'projects/acme-research/x',
    arn: 'arn:aws:s3:eu-west-1:123456789012:bucket/x',
  };
  const shown = redactor.body(JSON.stringify(told));
  expect(JSON.stringify(shown)).not.toMatch(/1234567|4242|acme|jane|jd-1|laptop/i);
  expect(shown).toMatchObject({ account_id: 0, organization: { id: 0 } });
});

it('takes out a key in any case and escape, and what a provider shows of it', () => {
  const key = 'sk-proj-Ab+1/cd=efGHij';
  const redactor = new Redactor([`Bearer ${key}`]);
  const escaped = encodeURIComponent(key);
  for (const said of [
    ...[key, key.toUpperCase(), escaped, escaped.toLowerCase(), encodeURIComponent(escaped)],
    ...[Buffer.from(key).toString('hex').toUpperCase(), 'sk-proj-********GHij'],
    Buffer.from(`user:${key}`).toString('base64'),
  ]) {
    expect(redactor.text(`of ${said}.`), said).not.toMatch(/ghij|efgh|QWIr|6566/i);
  }
});
