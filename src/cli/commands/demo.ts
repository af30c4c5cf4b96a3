import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { batchify } from '../../index.ts';
import { summaryLines } from '../../report/text/summary-lines.ts';
import { exitCodes } from '../exit-codes.ts';

const models = ['gpt-5-mini', 'gpt-5'];
const questions = [
  'What is a monad?',
  'Why is the sky blue?',
  'Name three prime numbers.',
  'What does a compiler do?',
  'How deep is the sea?',
  'Who was Ada Lovelace?',
];

type Ask = (model: string, question: string) => Promise<string>;

export function define(command: Command): void {
  command.addHelpText('after', '\nExample:\n  $ npx batchling demo').action(demo);
}

/** Asks a few questions through the bundled simulator: ordinary SDK calls at half price. */
async function demo(): Promise<void> {
  const { startSimulator } = await import('../../simulator/index.ts');
  const simulator = await startSimulator({
    speed: { validating: 300, running: 1_500, finalizing: 300 },
  });
  const folder = await mkdtemp(join(tmpdir(), 'batchling-demo-'));
  const stop = () => {
    rmSync(folder, { recursive: true, force: true });
    process.stderr.write(
      '\nbatchling: Stopped. Run your program again, and it goes on where it stopped.\n',
    );
    process.exit(exitCodes.interrupted);
  };
  // Only the CLI handles signals; the library installs no handlers.
  process.once('SIGINT', stop);
  try {
    const base = simulator.baseUrl('openai');
    const ask = await asker(base);
    const scope = batchify({
      hosts: { [base]: 'openai' },
      store: join(folder, 'ledger.db'),
      window: '200ms',
      poll: '200ms',
    });
    print(
      `${questions.length * models.length} ordinary chat completion calls, inside batchify():\n`,
    );
    const began = performance.now();
    const answers = await scope.run(() => askAll(ask));
    await scope.close();
    for (const { model, question, answer } of answers)
      print(`  ${model}  ${question}\n    ${answer}`);

    print(`\n${summaryLines(scope.stats, performance.now() - began).join('\n')}`);
  } finally {
    process.off('SIGINT', stop);
    await simulator.close();
    await rm(folder, { recursive: true, force: true });
  }
}

function askAll(ask: Ask) {
  return Promise.all(
    models.flatMap((model) =>
      questions.map(async (question) => ({ model, question, answer: await ask(model, question) })),
    ),
  );
}

/** Asks through the official SDK where it is installed, by plain `fetch` elsewhere. */
async function asker(baseURL: string): Promise<Ask> {
  try {
    const { default: OpenAI } = await import('openai');
    const openai = new OpenAI({ apiKey: 'sk-demo', baseURL });
    return async (model, content) => {
      const messages = [{ role: 'user' as const, content }];
      const completion = await openai.chat.completions.create({ model, messages });
      return completion.choices[0]?.message.content ?? '';
    };
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    return (model, content) => askByFetch(baseURL, model, content);
  }
}

async function askByFetch(baseURL: string, model: string, content: string): Promise<string> {
  const response = await fetch(`${baseURL}/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-demo', 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content }] }),
  });
  const completion = (await response.json()) as { choices: [{ message: { content: string } }] };
  return completion.choices[0].message.content;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
