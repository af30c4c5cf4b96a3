import Client from 'openai';
import * as batchling from '../../src/index.ts';
import { type Simulator, type SimulatorClock, startSimulator } from '../../src/simulator/index.ts';

/** What short blocks of the pages use without showing it. */
declare global {
  var batchify: typeof batchling.batchify;
  var realtime: typeof batchling.realtime;
  var OpenAI: typeof Client;
  var openai: Client;
  var simulator: Simulator;
  var prompts: string[];
  /** Asks an LLM; the text of its answer. */
  var ask: (prompt: string) => Promise<string>;
  var main: () => Promise<unknown>;
  var rows: AsyncIterable<{ text: string }>;
  var streamAnswers: () => AsyncGenerator<string>;
  var show: (text: string) => void;
  // For the examples of docs/api.md, which are not run.
  var scope: batchling.BatchingContext;
  var clock: batchling.Clock & SimulatorClock;
  var expect: typeof import('vitest').expect;
  var Anthropic: typeof import('@anthropic-ai/sdk').default;
}

/** The same at run time, with a simulator behind it. */
export async function openSurroundings(): Promise<Simulator> {
  const simulator = await startSimulator({ speed: { validating: 0, running: 2, finalizing: 0 } });
  const base = simulator.baseUrl('openai');
  process.env.OPENAI_API_KEY = 'sk-docs';
  process.env.OPENAI_BASE_URL = base;
  process.env.BATCHLING_HOSTS = `${base}=openai,${simulator.baseUrl('anthropic')}=anthropic`;
  process.env.BATCHLING_STORE = ':memory:';
  process.env.BATCHLING_WINDOW = '20ms';
  process.env.BATCHLING_POLL = '10ms';
  process.env.BATCHLING_DISPLAY = 'none';
  const openai = new Client();
  const ask = async (content: string) => {
    const messages = [{ role: 'user' as const, content }];
    const { choices } = await openai.chat.completions.create({ model: 'gpt-5-mini', messages });
    return choices[0]?.message.content ?? '';
  };
  const prompts = ['one', 'two', 'three'];
  Object.assign(globalThis, {
    batchify: batchling.batchify,
    realtime: batchling.realtime,
    OpenAI: Client,
    openai,
    simulator,
    prompts,
    ask,
    main: () => Promise.all(prompts.map(ask)),
    rows: (async function* () {
      for (const text of prompts) yield { text };
    })(),
    streamAnswers: async function* () {
      for (const prompt of prompts) yield await ask(prompt);
    },
    show: () => undefined,
  });
  return simulator;
}
