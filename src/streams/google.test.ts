import { describe, expect, it } from 'vitest';
import { googleArray, googleEvents } from './google.ts';
import { liveGemini } from './google-answer.ts';
import { answerOf, eventsOf } from './read-events.test-helper.ts';

const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 9, totalTokenCount: 12 };
const call = { functionCall: { name: 'weather', args: { city: 'Zürich' } } };
const answer = {
  candidates: [
    {
      content: { role: 'model', parts: [{ text: 'hm', thought: true }, { text: 'hi' }, call] },
      finishReason: 'STOP',
      index: 0,
      safetyRatings: [{ category: 'C', probability: 'LOW' }],
    },
  ],
  usageMetadata,
  modelVersion: 'gemini-test',
  responseId: 'r-1',
};

function chunks(json: object): unknown[] {
  return eventsOf(googleEvents(answerOf(json))).map(({ data }) => data);
}

describe('an answer of Gemini as events', () => {
  it('has a chunk for each part, and tells all else with the last', () => {
    const common = { modelVersion: 'gemini-test', responseId: 'r-1' };
    const chunk = (part: object, more: object = {}) => ({
      content: { role: 'model', parts: [part] },
      index: 0,
      ...more,
    });
    const { finishReason, safetyRatings } = answer.candidates[0] as (typeof answer.candidates)[0];
    expect(chunks(answer)).toEqual([
      { candidates: [chunk({ text: 'hm', thought: true })], ...common },
      { candidates: [chunk({ text: 'hi' })], ...common },
      { candidates: [chunk(call, { finishReason, safetyRatings })], usageMetadata, ...common },
    ]);
  });

  it('tells candidates one after another, the usage at the very end', () => {
    const second = { content: { parts: [{ text: 'b' }] }, finishReason: 'STOP', index: 1 };
    const first = { ...second, content: { parts: [{ text: 'a' }] }, index: 0 };
    expect(chunks({ candidates: [first, second], usageMetadata })).toEqual([
      { candidates: [first] },
      { candidates: [second], usageMetadata },
    ]);
  });

  it('tells a blocked prompt, and a candidate without a word, in one chunk', () => {
    const blocked = { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata };
    expect(chunks(blocked)).toEqual([blocked]);
    const silent = { candidates: [{ finishReason: 'MAX_TOKENS', index: 0 }], usageMetadata };
    expect(chunks(silent)).toEqual([silent]);
  });

  it('ends without a word of its own: clients would take it for JSON', () => {
    expect(googleEvents(answerOf(answer)).body).not.toContain('[DONE]');
  });
});

describe('an answer of Gemini as an array', () => {
  it('holds the same chunks, as JSON', () => {
    const told = googleArray(answerOf(answer));
    expect(told.headers['content-type']).toContain('application/json');
    expect(JSON.parse(told.body)).toEqual(chunks(answer));
  });
});

describe('events of Gemini as they come', () => {
  const fromChunks = (list: readonly unknown[]) => {
    const streamed = liveGemini.newAnswer();
    for (const chunk of list) expect(streamed.add(chunk as Record<string, unknown>)).toBe(true);
    return streamed.json;
  };
  const textChunk = (text: string, more: object = {}, ending: object = {}) => ({
    candidates: [{ content: { role: 'model', parts: [{ text, ...more }] }, ...ending }],
    modelVersion: 'gemini-test',
  });

  it('make up the answer in one piece', () => {
    expect(fromChunks(chunks(answer))).toEqual(answer);
  });

  it('continue a text or a thought, and leave a part with a signature alone', () => {
    const told = fromChunks([
      textChunk('h', { thought: true }),
      textChunk('m', { thought: true }),
      textChunk('hel'),
      textChunk('lo', {}, { logprobsResult: { chosenCandidates: [1] } }),
      textChunk('', { thoughtSignature: 's' }, { logprobsResult: { chosenCandidates: [2] } }),
      { ...textChunk('.', {}, { finishReason: 'STOP' }), usageMetadata },
    ]);
    const parts = [
      { text: 'hm', thought: true },
      { text: 'hello' },
      { text: '', thoughtSignature: 's' },
      { text: '.' },
    ];
    const content = { role: 'model', parts };
    const logprobsResult = { chosenCandidates: [1, 2] };
    const candidates = [{ content, logprobsResult, finishReason: 'STOP' }];
    expect(told).toEqual({ candidates, usageMetadata, modelVersion: 'gemini-test' });
  });

  it('are no answer before each candidate has said why it ended, unless the prompt was blocked', () => {
    expect(fromChunks([])).toBeUndefined();
    expect(fromChunks([textChunk('hel')])).toBeUndefined();
    const blocked = { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata };
    expect(fromChunks([blocked])).toEqual(blocked);
  });

  it('are asked for in the path', () => {
    const path = '/models/gemini-test:generateContent';
    expect(liveGemini.path?.(path)).toBe('/models/gemini-test:streamGenerateContent?alt=sse');
    expect(liveGemini.path?.(`${path}?a=b`)).toMatch(/:streamGenerateContent\?a=b&alt=sse$/);
  });
});
