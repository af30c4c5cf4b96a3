import OpenAI from 'openai';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startServer, type TestServer } from '../../src/ledger/postgres/test/server.test-helper.ts';
import { type GatewayProcess, startGateway } from '../gateway/start-gateway.ts';
import { seeded, seedFrom } from '../support/seeded.ts';
import { openStage, type Stage } from '../support/stage.ts';

/** `BATCHLING_CRASH_SEED=… npm run test:crash` kills the same gateways again. */
const seed = seedFrom('BATCHLING_CRASH_SEED');
const clients = Number(process.env.BATCHLING_CRASH_CLIENTS ?? 2_000);
const gateways = 4;
/** Milliseconds from one kill to the next. */
const pause = { least: 300, most: 3_000 };

/** Gateways on one ledger, as a load balancer sees them: any of them may be gone at any moment. */
class Fleet {
  readonly #stage: Stage;
  readonly #store: string;
  readonly #members: (GatewayProcess | undefined)[] = [];
  readonly #random = seeded(seed);
  kills = 0;

  constructor(stage: Stage, store: string) {
    this.#stage = stage;
    this.#store = store;
  }

  async start(at: number): Promise<void> {
    this.#members[at] = await startGateway(this.#stage, {
      store: this.#store,
      environment: { BATCHLING_WINDOW: '100ms', BATCHLING_BATCH_SIZE: '200' },
    });
  }

  /** Sends a request to a gateway that was there a moment ago. */
  readonly fetch: typeof globalThis.fetch = (input, init) => {
    const alive = this.#members.filter((member) => member !== undefined);
    const { pathname } = new URL(String(input));
    return fetch(`${this.#random.pick(alive).url}${pathname}`, init);
  };

  async killUntil(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const { least, most } = pause;
      await new Promise((resolve) => setTimeout(resolve, this.#random.between(least, most)));
      const at = this.#random.between(0, gateways - 1);
      const victim = this.#members[at];
      this.#members[at] = undefined;
      await victim?.kill(this.#random.pick(['SIGKILL', 'SIGKILL', 'SIGTERM']));
      this.kills += 1;
      await this.start(at);
    }
  }

  async end(): Promise<void> {
    await Promise.all(this.#members.map((member) => member?.kill()));
  }
}

let server: TestServer;
beforeAll(async () => {
  server = await startServer(['max_connections=200']);
});
afterAll(() => server.remove());

it.each(['a file', 'PostgreSQL'])(
  'every client of gateways on %s that are killed has its own answer, billed once',
  async (ledger) => {
    const stage = await openStage({
      answer: ({ prompt }) => `You asked: ${prompt}`,
      speed: { validating: 20, running: 6_000, finalizing: 20 },
    });
    const isFile = ledger === 'a file';
    const fleet = new Fleet(
      stage,
      isFile ? stage.newStore() : `${server.url}?schema=fleet&lease=2s`,
    );
    await Promise.all(Array.from({ length: gateways }, (_, at) => fleet.start(at)));
    const client = new OpenAI({
      apiKey: 'sk-client',
      baseURL: 'http://fleet/openai/v1',
      fetch: fleet.fetch,
      maxRetries: 3,
    });
    const ask = async (content: string, timeout: number): Promise<string | null | undefined> => {
      for (;;) {
        try {
          const messages = [{ role: 'user' as const, content }];
          const body = { model: 'gpt-5-mini', messages };
          const answer = await client.chat.completions.create(body, { timeout });
          return answer.choices[0]?.message.content;
        } catch (error) {
          // Its retries are used up: its program asks anew, as a job that is run again does.
          const { status = 503 } = error as { status?: number };
          if (error instanceof OpenAI.APIError && (status === 503 || status === 408)) continue;
          throw error;
        }
      }
    };
    const prompts = Array.from({ length: clients }, (_, index) => `question ${index}`);
    let left = prompts.length;
    const answers = Promise.all(
      prompts.map(async (prompt, index) => {
        // Some lose patience before a batch is ready. If all did, their tries alone would keep two cores busy.
        const answer = await ask(prompt, index % 10 === 0 ? 4_000 : 60_000);
        left -= 1;
        return answer;
      }),
    );
    let isOver = false;
    const killing = fleet.killUntil(() => isOver || left === 0);
    try {
      expect(await answers).toEqual(prompts.map((prompt) => `You asked: ${prompt}`));
      const { total, executedTwice } = stage.simulator.meter.summary();
      console.log(
        `gateways on ${ledger}: ${clients} clients, ${fleet.kills} kills, ${total} billed, ` +
          `${executedTwice.length} billed twice (BATCHLING_CRASH_SEED=${seed})`,
      );
      expect(total).toBe(clients);
      expect(executedTwice).toEqual([]);
      expect(fleet.kills).toBeGreaterThan(0);
    } finally {
      isOver = true;
      await killing;
      await fleet.end();
      await stage.close();
    }
  },
);
