import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { Mistral } from '@mistralai/mistralai';
import Groq from 'groq-sdk';
import OpenAI from 'openai';
import { expect, it, onTestFinished } from 'vitest';
import { batchify } from '../../src/index.ts';
import { startSimulator } from '../../src/simulator/index.ts';
import { ask, askClaude, askGemini } from '../support/ask.ts';
import { hearStderr } from '../support/heard.ts';

const names = ['openai', 'anthropic', 'groq', 'mistral', 'google'] as const;

it('a program with five SDKs: all are answered, in one display with one summary', async () => {
  const speed = { validating: 2, running: 5, finalizing: 2, cancelling: 2 };
  const simulator = await startSimulator({ speed });
  onTestFinished(() => simulator.close());
  const base = (name: string) => simulator.baseUrl(name);
  const apiKey = 'sk-of-the-program';
  const openai = new OpenAI({ apiKey, baseURL: base('openai') });
  const anthropic = new Anthropic({ apiKey, baseURL: base('anthropic') });
  const groq = new Groq({ apiKey, baseURL: base('groq').replace('/openai/v1', '') });
  const mistral = new Mistral({ apiKey, serverURL: base('mistral') });
  const google = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: base('google') } });
  const user = (content: string) => [{ role: 'user' as const, content }];

  const askGroq = async (content: string) => {
    const { choices } = await groq.chat.completions.create({
      model: 'llama-test',
      messages: user(content),
    });
    return choices[0]?.message.content ?? '';
  };
  const askMistral = async (content: string) => {
    const answer = await mistral.chat.complete({ model: 'mistral-test', messages: user(content) });
    return String(answer.choices?.[0]?.message?.content);
  };
  const askers: Record<string, (prompt: string) => Promise<string>> = {
    openai: (prompt) => ask(openai, prompt),
    anthropic: (prompt) => askClaude(anthropic, prompt),
    groq: askGroq,
    mistral: askMistral,
    google: (prompt) => askGemini(google, prompt),
  };

  const heard = hearStderr();
  const asked = names.flatMap((name) => [`one for ${name}`, `two for ${name}`]);
  const hosts = Object.fromEntries(names.map((name) => [base(name), name] as const));
  const answers = await batchify(
    () => Promise.all(asked.map((prompt) => askers[prompt.split(' ').at(-1) as string]?.(prompt))),
    { hosts, store: ':memory:', window: '200ms', poll: '10ms', display: 'plain' },
  );

  for (const [at, answer] of answers.entries()) expect(answer).toContain(`"${asked[at]}"`);
  expect(simulator.meter.summary()).toMatchObject({ batched: 10, realtime: 0, failed: 0 });
  expect(simulator.meter.executedTwice()).toEqual([]);
  const sent = simulator.batches().map(({ provider, requests }) => `${provider} ${requests}`);
  expect(sent.sort()).toEqual(names.map((name) => `${name} 2`).sort());
  const lines = heard.lines();
  for (const name of names) {
    expect(lines.filter((line) => line.includes(`2 requests to ${name} `))).toHaveLength(1);
  }
  expect(lines.filter((line) => line.includes('calls answered'))).toEqual([
    expect.stringMatching(/^batchling: 10 calls answered, 5 batches/),
  ]);
});
