import { describe, expect, it } from 'vitest';
import { estimateTokens } from './token-estimate.ts';

function estimate(body: string): number {
  return estimateTokens(body, Buffer.byteLength(body));
}

describe('the estimate of tokens', () => {
  it('grows with the bytes of the text', () => {
    expect(estimate('x'.repeat(464))).toBe(104);
    expect(estimate('')).toBe(4);
  });

  it.each([
    ['Chinese', '我们把一百个问题交给模型，等待几个小时，然后得到所有的答案。', 0.9, 1.5],
    ['Japanese', '百個の質問をモデルに渡して、数時間後にすべての答えを受け取ります。', 0.9, 1.5],
    ['Korean', '백 개의 질문을 모델에 보내고 몇 시간 뒤에 모든 답을 받습니다.', 0.5, 1.3],
    ['Russian', 'Мы отдаём модели сто вопросов и через несколько часов получаем ответы.', 0.3, 0.7],
    ['English', 'We give the model a hundred questions, and hours later all answers.', 0.2, 0.3],
  ])('has about as many tokens per character as %s has', (_language, text, least, most) => {
    const perCharacter = estimate(text.repeat(100)) / (text.length * 100);
    expect(perCharacter).toBeGreaterThan(least);
    expect(perCharacter).toBeLessThan(most);
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
