import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { fastClock } from '../../support/programs/parts/fast-clock.ts';
import { openStage, type Stage } from '../../support/stage.ts';

const examples = fileURLToPath(new URL('../../../examples', import.meta.url));
const names = readdirSync(join(examples, 'providers')).map((name) => name.replace('.mjs', ''));

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
  leadToSimulator();
});
beforeEach(() => stage.simulator.reset());
afterAll(async () => {
  vi.unstubAllEnvs();
  await stage.close();
});

/** Base URLs and keys by the variables that the programs and their SDKs read. */
function leadToSimulator(): void {
  const { simulator } = stage;
  for (const name of names) {
    const upper = name.toUpperCase();
    const base = simulator.baseUrl(name as 'openai');
    vi.stubEnv(`${upper}_API_KEY`, `key-of-${name}`);
    vi.stubEnv(`${upper}_BASE_URL`, base);
  }
  vi.stubEnv('GROQ_BASE_URL', simulator.baseUrl('groq').replace('/openai/v1', ''));
  vi.stubEnv('ZHIPUAI_API_KEY', 'key-of-zhipu');
  vi.stubEnv('OVH_AI_ENDPOINTS_ACCESS_TOKEN', 'key-of-ovhcloud');
  // Its paths begin with /v1.
  vi.stubEnv('PERPLEXITY_BASE_URL', simulator.baseUrl('perplexity').replace(/\/v1$/, ''));
  vi.stubEnv('GOOGLE_API_KEY', undefined);
  vi.stubEnv('GEMINI_API_KEY', 'key-of-google');
  vi.stubEnv('GOOGLE_GEMINI_BASE_URL', simulator.baseUrl('google'));
  vi.stubEnv('GOOGLE_VERTEX_BASE_URL', simulator.baseUrl('vertex'));
  vi.stubEnv('GOOGLE_CLOUD_PROJECT', 'my-project');
  vi.stubEnv('AZURE_OPENAI_API_KEY', 'key-of-azure');
  vi.stubEnv('AZURE_OPENAI_ENDPOINT', `${simulator.url}/azure`);
  vi.stubEnv('BEDROCK_ENDPOINT', simulator.baseUrl('bedrock'));
  vi.stubEnv('AWS_REGION', 'us-east-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLES');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret-of-AKIDEXAMPLES');
  vi.stubEnv('MISTRAL_SERVER_URL', simulator.baseUrl('mistral').replace(/\/v1$/, ''));
}

/** Where Google's SDK gets a token for Vertex AI: a file that names a server of ours. */
async function giveGoogleTokens() {
  const server = createServer((_, response) => {
    const token = { access_token: 'ya29.example', expires_in: 3600, token_type: 'Bearer' };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(token));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const subject = join(stage.folder, 'subject');
  await writeFile(subject, 'somebody');
  const credentials = join(stage.folder, 'credentials.json');
  const content = {
    type: 'external_account',
    audience: 'any',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: `http://127.0.0.1:${port}`,
    credential_source: { file: subject },
  };
  await writeFile(credentials, JSON.stringify(content));
  vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', credentials);
  return server;
}

/** What the programs print when they run in one scope; each of them makes its clients inside of it. */
async function outputsOf(files: readonly string[], given: BatchifyOptions = {}): Promise<string[]> {
  const { simulator } = stage;
  const bases = simulator.providers.map((name) => [simulator.baseUrl(name as 'openai'), name]);
  const printed = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  try {
    const runAll = () => Promise.all(files.map((file) => import(join(examples, file))));
    await batchify(runAll, {
      store: stage.newStore(),
      hosts: Object.fromEntries(bases),
      window: '5m',
      maxWindow: '10m',
      // A minute between two polls, which some providers ask for, is a tenth of a second.
      clock: fastClock({ epoch: Date.now(), speed: 600 }),
      ...given,
    });
    return printed.mock.calls.map(([text]) => text);
  } finally {
    printed.mockRestore();
  }
}

it('examples/providers has a program for every provider, and each gets its answers from a batch', async () => {
  const { simulator } = stage;
  expect(names.toSorted()).toEqual([...simulator.providers].toSorted());
  simulator.configure({
    // Vectors have no text.
    answer: ({ prompt, endpoint }) =>
      endpoint === '/v1/embeddings' ? undefined : `<${prompt.split(' ').at(-1)}>`,
  });
  const tokens = await giveGoogleTokens();
  const others = names.filter((name) => name !== 'bedrock');
  const outputs = await outputsOf(
    others.map((name) => `providers/${name}.mjs`),
    {
      providers: {
        azure: { deployments: { 'gpt-5-mini': 'gpt-5-mini-batch' } },
        vertex: { bucket: 'gs://my-bucket' },
      },
    },
  );
  tokens.close();
  const words = 'bridge: <bridge>\nriver: <river>\nharbour: <harbour>';
  const vectors = 'bridge: 8 numbers\nriver: 8 numbers\nharbour: 8 numbers';
  expect(outputs.toSorted()).toEqual(
    others.map((name) => (name === 'voyage' ? vectors : words)).toSorted(),
  );
  expect(simulator.meter).toMatchObject({ batched: 3 * others.length, realtime: 0 });
  expect(new Set(simulator.batches().map(({ provider }) => provider))).toEqual(new Set(others));
});

it('the program for Bedrock gets its answers from a job, by the time of the day that its signatures bear', async () => {
  const { simulator } = stage;
  simulator.configure({ answer: ({ prompt }) => `<${prompt.split(' ').at(-1)}>` });
  const outputs = await outputsOf(['providers/bedrock.mjs'], {
    clock: undefined,
    window: '200ms',
    poll: '20ms',
    providers: {
      bedrock: { bucket: 's3://my-bucket', roleArn: 'arn:aws:iam::123456789012:role/batches' },
    },
  });
  const spelled = Array.from({ length: 120 }, (_, index) => `${index + 1}: <${index + 1}>`);
  expect(outputs).toEqual([spelled.join('\n')]);
  expect(simulator.meter).toMatchObject({ batched: 120, realtime: 0 });
});

it('programs of further frameworks in examples/unchanged get their answers from batches', async () => {
  const { simulator } = stage;
  simulator.configure({
    answer: ({ prompt, body }) => {
      if (body.response_format === undefined) return `<${prompt}>`;
      return JSON.stringify({ city: prompt.split(' ')[0], people: prompt.length });
    },
  });
  const files = ['fetch.mjs', 'instructor.mjs', 'openai-agents.ts'];
  const outputs = await outputsOf(files.map((file) => `unchanged/${file}`));
  expect(outputs.map((text) => text.split('\n')[0]).toSorted()).toEqual([
    'Lisbon: <One sentence about Lisbon.>',
    'Oslo: 24',
    'ivy: <How much light does ivy need?>',
  ]);
  expect(simulator.meter).toMatchObject({ batched: 11, realtime: 0 });
});
