import { describe, expect, it } from 'vitest';
import { otherProvider, wireOf } from './llm-wires.ts';
import { builtInInfos } from './registry.ts';

const inProject = '/v1/projects/p/locations/us/publishers';

describe('a wire is known by its path', () => {
  it.each([
    ['/v1/chat/completions', 'openai'],
    ['/v1/messages', 'anthropic'],
    ['/v1beta/models/g:batchEmbedContents', 'google'],
    [`${inProject}/google/models/g:streamGenerateContent`, 'vertex'],
    [`${inProject}/anthropic/models/c:rawPredict`, 'vertex'],
  ])('%s is that of %s, whoever has copied its facts', (path, provider) => {
    expect(wireOf(new URL(`https://h.example${path}`))?.capturable?.provider).toBe(provider);
  });

  it.each([`${inProject}/meta/models/l:rawPredict`, `${inProject}/google/models/i:predict`])(
    '%s has no batches anywhere',
    (path) => {
      const wire = wireOf(new URL(`https://h.example${path}`));
      expect(wire).toMatchObject({ name: 'Vertex AI' });
      expect(wire).not.toHaveProperty('capturable');
    },
  );
});

it('hosts of a provider without batches are known by the facts of the provider', () => {
  const known = builtInInfos.flatMap(({ name, unbatchedHosts = [] }) =>
    unbatchedHosts.map((host) => [name, otherProvider(host)]),
  );
  expect(known).toContainEqual(['mistral', 'mistral']);
  expect(known.every(([name, found]) => name === found)).toBe(true);
  expect(otherProvider('api.mistral.ai')).toBeUndefined();
});
