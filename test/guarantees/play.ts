import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { batchify, type Logger } from '../../src/index.ts';
import { type Simulator, startSimulator } from '../../src/simulator/index.ts';
import { ask, askClaude, askForResponse, askGemini } from '../support/ask.ts';
import { isVectorOf } from '../support/is-vector-of.ts';
import {
  askBedrock,
  askForEmbedding,
  bedrockClient,
} from '../support/programs/parts/more-clients.ts';
import { vertexClient } from '../support/programs/parts/vertex-client.ts';
import { wireOf } from '../support/provider-wires.ts';
import {
  apiKey,
  type Fate,
  type FaultCase,
  hour,
  minute,
  type Outcome,
  type Played,
  type Provider,
  second,
} from './fault-case.ts';
import { LeapingClock } from './leaping-clock.ts';

/** About as long as the real ones take when they have little to do. */
const speed = {
  validating: 5 * second,
  running: 10 * minute,
  finalizing: 30 * second,
  cancelling: minute,
};

/** No provider lets a batch become older than 28 hours; who is told nothing by then never is. */
const patience = 40 * hour;

/** Plays a case with the real SDK, the standard options and a ledger of its own. */
export async function play(faultCase: FaultCase, provider: Provider): Promise<Played> {
  const { prompts = ['one', 'two', 'three'], settings } = faultCase;
  const options = typeof faultCase.options === 'function' ? faultCase.options() : faultCase.options;
  const clock = new LeapingClock(patience);
  const simulator = await startSimulator({
    speed,
    ...wireOf(provider).settings,
    ...settings,
    clock,
  });
  const folder = await mkdtemp(join(tmpdir(), 'batchling-faults-'));
  const store = join(folder, 'ledger.db');
  const baseURL = `${simulator.baseUrl(provider)}${wireOf(provider).path ?? ''}`;
  const told: string[] = [];
  const logger = loggerInto(told);
  const { options: own } = wireOf(provider);
  const scope = batchify({
    store,
    hosts: { [baseURL]: provider },
    clock,
    logger,
    ...own,
    ...options,
  });
  const scene = { provider, simulator, scope, clock };
  const resent: string[] = [];
  scope.on('batch:resent', ({ reason }) => resent.push(reason));
  const heardAt: number[] = [];
  try {
    faultCase.arrange(scene);
    const asking = await asker(provider, baseURL);
    const heard = scope.run(() =>
      Promise.all(
        prompts.map(async (prompt, at) => {
          const outcome = await outcomeOf(asking(prompt), prompt, told);
          heardAt[at] = clock.elapsed;
          return outcome;
        }),
      ),
    );
    const outcomes = await Promise.race([heard, clock.overslept]);
    await scope.close();
    // A batch that nobody knows of would be billed after we looked.
    await restOf(simulator, clock);
    const fates = prompts.map((prompt, at) => fateOf(simulator, prompt, outcomes[at] as Outcome));
    const sent = simulator.batches().filter(({ foreign }) => !foreign);
    const lines = sent.reduce((sum, { requests }) => sum + requests, 0);
    const sentAgain = Math.max(0, lines - prompts.length);
    const leaks = [
      ...(await filesWithKey(folder)),
      ...[...resent, ...told].filter((text) => text.includes(apiKey)),
    ];
    return { ...scene, fates, sentAgain, heardAt, resent, leaks };
  } finally {
    clock.stop();
    await simulator.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Every line of the log, with its facts. */
function loggerInto(told: string[]): Logger {
  const note = (message: string, facts?: unknown) =>
    void told.push(`${message} ${inspect(facts, { depth: 8 })}`);
  return { debug: note, info: note, warn: note, error: note };
}

async function filesWithKey(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const contents = await Promise.all(
    files.map((file) => readFile(join(file.parentPath, file.name))),
  );
  return files.filter((_, at) => contents[at]?.includes(apiKey)).map(({ name }) => name);
}

async function asker(
  provider: Provider,
  baseURL: string,
): Promise<(prompt: string) => Promise<string>> {
  const { sdk, model } = wireOf(provider);
  if (sdk === 'google') {
    const client = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: baseURL } });
    return (prompt) => askGemini(client, prompt);
  }
  if (sdk === 'vertex') {
    const client = vertexClient(baseURL, apiKey);
    return (prompt) => askGemini(client, prompt);
  }
  if (sdk === 'bedrock') {
    const client = await bedrockClient(baseURL);
    return (prompt) => askBedrock(client, prompt);
  }
  if (sdk === 'anthropic') {
    const client = new Anthropic({ apiKey, baseURL });
    return (prompt) => askClaude(client, prompt);
  }
  const client = new OpenAI({ apiKey, baseURL, organization: null, project: null });
  if (sdk === 'embeddings') return (prompt) => askForEmbedding(client, prompt);
  if (sdk === 'responses') return (prompt) => askForResponse(client, prompt);
  return (prompt) => ask(client, prompt, model);
}

async function outcomeOf(asked: Promise<string>, prompt: string, told: string[]): Promise<Outcome> {
  try {
    const text = await asked;
    if (text.startsWith(`answer to "${prompt}" from `) || isVectorOf(prompt, text)) {
      return 'its answer';
    }
    return `200 ${text}`;
  } catch (error) {
    told.push(inspect(error, { depth: 8 }));
    if (error instanceof OpenAI.APIError) return `${error.status ?? 0} ${error.type ?? error}`;
    if (error instanceof Anthropic.APIError) return `${error.status ?? 0} ${error.type ?? error}`;
    throw error;
  }
}

function fateOf({ meter }: Simulator, prompt: string, outcome: Outcome): Fate {
  const needle = JSON.stringify(prompt);
  const count = (executions: readonly { body: unknown }[]) =>
    executions.filter(({ body }) => JSON.stringify(body).includes(needle)).length;
  return { outcome, billed: count(meter.executions), unbilled: count(meter.failures) };
}

/** Until every batch has ended, or stays as it is for good. */
function restOf(simulator: Simulator, clock: LeapingClock): Promise<void> {
  return new Promise((resolve) => {
    const until = clock.elapsed + 2 * hour;
    const look = () => {
      const open = simulator.batches().some(({ phase }) => phase !== 'ended');
      if (open && clock.elapsed < until) clock.setTimeout(look, minute);
      else resolve();
    };
    look();
  });
}
