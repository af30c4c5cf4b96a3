import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import fc from '../../../test/support/fast-check.ts';
import { idOfLabel, labelBytes, labelName, labelOf, withLabel } from './vertex-labels.ts';

const ids = fc
  .tuple(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.nat(2 ** 30))
  .map(([bytes, number]) => `${Buffer.from(bytes).toString('base64url')}-${number}`);

describe('a label', () => {
  it('stands for one id, in letters that labels may have', () => {
    fc.assert(
      fc.property(ids, (id) => {
        const label = labelOf(id) ?? '';
        expect(label).toMatch(/^[a-z0-9_-]{1,63}$/);
        expect(idOfLabel(label)).toBe(id);
      }),
    );
  });

  it.each(['', 'mine', 'unknown-1f', `${'A'.repeat(43)}-x`, `${'-'.repeat(42)}B-1`])(
    'there is none for %j, which is no id of the engine',
    (id) => expect(labelOf(id)).toBeUndefined(),
  );

  it.each([undefined, 7, '', 'team-a', 'a'.repeat(60), 'A'.repeat(61), '1'.repeat(61)])(
    '%j is none of ours',
    (label) => expect(idOfLabel(label)).toBeUndefined(),
  );
});

describe('a request', () => {
  const label = labelOf(`${createHash('sha256').update('a').digest('base64url')}-1`) ?? '';
  const ours = `"${labelName}":"${label}"`;

  it('gets a label in front, and stays as it is', () => {
    const body = '{ "contents":[{"parts":[{"text":"\\"labels\\": {} ä"}]}],"n":1.0,"2":1e-7 }';
    const labelled = withLabel(body, label);
    expect(labelled).toBe(`{"labels":{${ours}},${body.slice(1)}`);
    expect(labelled.length - body.length).toBe(labelBytes);
  });

  it('keeps the labels that it has', () => {
    const labelled = withLabel('{"a":1.0,"labels":{"team":"x"},"b":2}', label);
    expect(labelled).toBe(`{"a":1.0,"labels":{"team":"x",${ours}},"b":2}`);
    expect(labelled.length - 37).toBeLessThanOrEqual(labelBytes);
    expect(withLabel('{"labels":{}}', label)).toBe(`{"labels":{${ours}}}`);
  });

  it('with as many labels as it may have gets none', () => {
    const labels = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`label-${at}`, 'x']));
    const body = (count: number) => JSON.stringify({ a: 1, labels: labels(count) });
    expect(withLabel(body(64), label)).toBe(body(64));
    expect(withLabel(body(63), label)).toContain(ours);
  });

  it.each(['{}', '{ }', '{"labels":"x","a":1}', '{"labels":null}'])('%s gets none', (body) =>
    expect(withLabel(body, label)).toBe(body),
  );
});
