import { describe, expect, it } from 'vitest';
import type { Batcher } from '../batchers/batcher.ts';
import { openaiInfo } from '../batchers/openai/openai-info.ts';
import { type BatchifyOptions, resolveOptions } from './index.ts';

const resolved = (given: BatchifyOptions) => resolveOptions(given, undefined, {});

// A stand-in: only its facts are asked for.
class LlamaBatcher {
  readonly info = {
    ...openaiInfo,
    name: 'llama',
    settings: { size: { help: '', allowed: '', parse: (value: unknown) => value } },
  };
}
const batchers = [LlamaBatcher as unknown as new () => Batcher];

describe('hosts', () => {
  it.each([
    ['http://127.0.0.1:8000/v1', { protocol: 'http:', host: '127.0.0.1:8000', path: '/v1' }],
    ['proxy.example/llm', { protocol: undefined, host: 'proxy.example', path: '/llm' }],
    ['127.0.0.1:8000', { protocol: undefined, host: '127.0.0.1:8000', path: '' }],
    ['HTTPS://Proxy.Example:443/', { protocol: 'https:', host: 'proxy.example', path: '' }],
    ['proxy.example:443/v1/', { protocol: 'https:', host: 'proxy.example', path: '/v1' }],
    ['proxy.example:80', { protocol: 'http:', host: 'proxy.example', path: '' }],
    ['[::1]:8000/v1', { protocol: undefined, host: '[::1]:8000', path: '/v1' }],
  ])('takes %s apart', (key, expected) => {
    expect(resolved({ hosts: { [key]: 'openai' } }).hosts).toEqual([
      { key, provider: 'openai', ...expected },
    ]);
  });

  it("may name the user's own batchers, inherited ones too", () => {
    const parent = resolved({ batchers, hosts: { 'llama.example': 'llama' } });
    expect(parent.hosts[0]?.provider).toBe('llama');
    const child = resolveOptions({ providers: { llama: { size: 7 } } }, parent, {});
    expect(child.providers).toEqual({ llama: { size: 7 } });
  });
});
