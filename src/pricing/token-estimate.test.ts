import { describe, expect, it } from 'vitest';
import { estimateTokens } from './token-estimate.ts';

function estimate(body: string): number {
  return estimateTokens(body, Buffer.byteLength(body));
}

describe('the estimate of tokens', () => {
  it('grows with the bytes of the text', () => {
    expect(estimate('x'.repeat(464))).toBe(104);
    expect(estimate('é'.repeat(432))).toBe(204);
    expect(estimate('')).toBe(4);
  });

  it('counts an image as one, however long its text is', () => {
    const image = (size: number) => `{"url":"data:image/png;base64,${'A'.repeat(size)}"}`;
    expect(estimate(image(1_000_000))).toBe(estimate(image(1_000)));
    expect(estimate(image(10) + image(10))).toBeGreaterThan(2_000);
  });

  it('reads a body that ends inside its image', () => {
    expect(estimate(`data:;base64,${'A'.repeat(8_000)}`)).toBeLessThan(1_100);
  });

  it('does not take the structure of a short request for text', () => {
    const body = { model: 'gpt-5-mini', messages: [{ role: 'user', content: 'Why?' }] };
    expect(estimate(JSON.stringify(body))).toBeLessThanOrEqual(8);
  });
});
