import { describe, expect, it } from 'vitest';
import { wireForm } from './wire-forms.ts';

const chat = wireForm('mistral', undefined);
const text = (content: unknown) => ({ message: { content } });

describe('what a model said', () => {
  it('is told without its thoughts', () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'Well …' }] },
      { type: 'text', text: 'Yes' },
      { type: 'text', text: '.' },
    ];
    expect(chat.answer({ choices: [text(content)] })).toBe('Yes.');
    const parts = [{ text: 'Well …', thought: true }, { text: 'Yes.' }];
    const google = wireForm('google', undefined);
    expect(google.answer({ candidates: [{ content: { parts } }] })).toBe('Yes.');
  });

  it('is a list where several answers were asked for', () => {
    expect(chat.answer({ choices: [text('one'), text('two')] })).toEqual(['one', 'two']);
    const completions = wireForm('openai', '/completions');
    expect(completions.answer({ choices: [{ text: 'one' }, { text: 'two' }] })).toEqual([
      'one',
      'two',
    ]);
    const candidates = ['one', 'two'].map((said) => ({ content: { parts: [{ text: said }] } }));
    expect(wireForm('google', undefined).answer({ candidates })).toEqual(['one', 'two']);
    const embeddings = wireForm('openai', '/embeddings');
    expect(embeddings.answer({ data: [{ embedding: [1] }, { embedding: [2] }] })).toEqual([
      [1],
      [2],
    ]);
  });

  it('is found in the answers of Anthropic at Vertex, too', () => {
    const path = '/projects/p/locations/eu/publishers/anthropic/models/claude:rawPredict';
    const content = [{ type: 'text', text: 'Yes.' }];
    expect(wireForm('vertex', path).answer({ content })).toBe('Yes.');
  });

  it('is nothing where there is no text', () => {
    expect(chat.answer({ choices: [text(null)] })).toBeUndefined();
    expect(chat.answer({ choices: [] })).toBeUndefined();
    expect(wireForm('google', undefined).answer({ candidates: [{}] })).toBeUndefined();
  });
});
