import { describe, expect, it } from 'vitest';
import { estimateTokens } from './token-estimate.ts';

function estimate(body: string): number {
  return estimateTokens(body, Buffer.byteLength(body));
}

describe('the estimate of tokens', () => {
  it('grows with the bytes of the text', () => {
    expect(estimate('x'.repeat(400))).toBe(100);
    expect(estimate('é'.repeat(400))).toBe(200);
    expect(estimate('')).toBe(0);
  });

  it('counts an image as one, however long its text is', () => {
    const image = (size: number) => `{"url":"data:image/png;base64,${'A'.repeat(size)}"}`;
    expect(estimate(image(1_000_000))).toBe(estimate(image(1_000)));
    expect(estimate(image(10) + image(10))).toBeGreaterThan(2_000);
  });

  it('reads a body that ends inside its image', () => {
    expect(estimate(`data:;base64,${'A'.repeat(8_000)}`)).toBeLessThan(1_100);
  });
});
