import { describe, expect, it } from 'vitest';
import { estimateInput } from './token-estimate.ts';

function estimate(body: string | object): number {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return estimateInput(text, Buffer.byteLength(text)).tokens;
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

  it('does not take the structure of a short request for text', () => {
    const body = { model: 'gpt-5-mini', messages: [{ role: 'user', content: 'Why?' }] };
    expect(estimate(body)).toBeLessThanOrEqual(8);
  });
});

/** As base64: 1.4 million characters, which as text would be 350,000 tokens. */
const megabyte = 'A'.repeat(1_400_000);
const user = (part: object) => ({ messages: [{ role: 'user', content: [part] }] });
const gemini = (part: object) => ({ contents: [{ role: 'user', parts: [part] }] });
const source = (media_type: string, data: string) => ({ type: 'base64', media_type, data });

describe('an image counts as one, however long its text is', () => {
  it.each<[string, (data: string) => object]>([
    [
      'a data URL of chat completions',
      (data) => user({ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }),
    ],
    [
      'a data URL of responses',
      (data) => ({
        input: [{ content: [{ type: 'input_image', image_url: `data:image/png;base64,${data}` }] }],
      }),
    ],
    ['a source of messages', (data) => user({ type: 'image', source: source('image/png', data) })],
    [
      'a source in the result of a tool',
      (data) =>
        user({
          type: 'tool_result',
          content: [{ type: 'image', source: source('image/jpeg', data) }],
        }),
    ],
    ['inlineData', (data) => gemini({ inlineData: { mimeType: 'image/png', data } })],
    ['inline_data', (data) => gemini({ inline_data: { mime_type: 'image/png', data } })],
  ])('%s', (_name, body) => {
    expect(estimate(body(megabyte))).toBe(estimate(body('AAAA')));
    expect(estimate(body(megabyte))).toBeGreaterThan(1_000);
    expect(estimate(body(megabyte))).toBeLessThan(1_100);
  });

  it.each([
    user({ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }),
    { input: [{ content: [{ type: 'input_image', image_url: 'https://example.com/a.png' }] }] },
    { input: [{ content: [{ type: 'input_image', file_id: 'file-1' }] }] },
    user({ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }),
    gemini({ fileData: { mimeType: 'image/png', fileUri: 'gs://bucket/a.png' } }),
    gemini({ file_data: { mime_type: 'image/png', file_uri: 'gs://bucket/a.png' } }),
  ])('linked by %j', (body) => {
    expect(estimate(body)).toBeGreaterThan(1_000);
    expect(estimate(body)).toBeLessThan(1_100);
  });
});

describe('what is no image counts by its size', () => {
  it.each([
    [
      'a PDF of 21 pages',
      user({ type: 'document', source: source('application/pdf', megabyte) }),
      42_000,
    ],
    [
      'the same at Gemini',
      gemini({ inlineData: { mimeType: 'application/pdf', data: megabyte } }),
      42_000,
    ],
    [
      'a PDF at a link',
      user({ type: 'document', source: { type: 'url', url: 'https://a.b/c' } }),
      20_000,
    ],
    ['sound', gemini({ inlineData: { mimeType: 'audio/mp3', data: megabyte } }), 2_625],
    [
      'sound of OpenAI',
      user({ type: 'input_audio', input_audio: { data: megabyte, format: 'mp3' } }),
      2_625,
    ],
    ['a film', gemini({ inlineData: { mimeType: 'video/mp4', data: megabyte } }), 2_625],
    [
      'a text in base64',
      gemini({ inlineData: { mimeType: 'text/plain', data: megabyte } }),
      262_500,
    ],
    ['a text', user({ type: 'text', text: megabyte }), 350_000],
  ])('%s', (_name, body, tokens) => {
    expect(Math.abs(estimate(body) - tokens)).toBeLessThan(100);
  });

  it('and sound is told apart, for it has a price of its own', () => {
    const text = JSON.stringify(gemini({ inlineData: { mimeType: 'audio/mp3', data: megabyte } }));
    expect(estimateInput(text, text.length).audioTokens).toBe(2_625);
  });
});
