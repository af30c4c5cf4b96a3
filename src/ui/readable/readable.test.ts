import { expect, it } from 'vitest';
import { readable } from './readable.ts';

it('reads questions and answers of Converse', () => {
  const question = readable(
    'question',
    JSON.stringify({
      system: [{ text: 'Be brief.' }],
      messages: [
        {
          role: 'user',
          content: [
            { text: 'How warm is it here?' },
            { image: { format: 'png', source: { bytes: 'iVBORw0KGgo='.repeat(500) } } },
          ],
        },
        { role: 'assistant', content: [{ toolUse: { name: 'weather', input: { city: 'Oslo' } } }] },
        { role: 'user', content: [{ toolResult: { toolUseId: 't1', content: [{ text: '9' }] } }] },
      ],
      toolConfig: { tools: [{ toolSpec: { name: 'weather', inputSchema: { json: {} } } }] },
      inferenceConfig: { maxTokens: 9 },
    }),
  );
  expect(question?.messages).toEqual([
    { role: 'system', parts: [{ kind: 'text', text: 'Be brief.' }] },
    {
      role: 'user',
      parts: [
        { kind: 'text', text: 'How warm is it here?' },
        { kind: 'media', label: 'png, 5 KB' },
      ],
    },
    { role: 'assistant', parts: [{ kind: 'call', name: 'weather', input: { city: 'Oslo' } }] },
    { role: 'user', parts: [{ kind: 'result', name: 't1', parts: [{ kind: 'text', text: '9' }] }] },
  ]);
  expect(question?.tools).toEqual([{ name: 'weather', schema: { json: {} } }]);
  expect(question?.settings).toEqual([['inferenceConfig', { maxTokens: 9 }]]);
  const message = { role: 'assistant', content: [{ text: 'Nine degrees.' }] };
  const answer = readable(
    'answer',
    JSON.stringify({ output: { message }, stopReason: 'end_turn' }),
  );
  expect(answer).toEqual({
    messages: [{ role: 'assistant', parts: [{ kind: 'text', text: 'Nine degrees.' }] }],
    settings: [['stopReason', 'end_turn']],
    tools: [],
  });
});
