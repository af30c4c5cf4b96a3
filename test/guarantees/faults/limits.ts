import { expect } from 'vitest';
import {
  answered,
  anthropicOnly,
  apiKey,
  type FaultCase,
  failed,
  hour,
  minute,
  openaiOnly,
} from '../fault-case.ts';

/** Some 55 tokens by the simulator's count: a body has a few words besides. */
const long = (name: string) => `${name} ${'word '.repeat(40)}`;
const four = ['one', 'two', 'three', 'four'].map(long);
const tokenLimit = {
  code: 'token_limit_exceeded',
  message:
    'Enqueued token limit reached for gpt-test in organization org-simulator. Limit: 90000 ' +
    'enqueued tokens. Please try again once some in_progress batches have been completed.',
};

/** No room at the provider. Waiting uses up no attempt: here there is only one. */
export const limitFaults: readonly FaultCase[] = [
  {
    fault: 'limit: `token_limit_exceeded`, five times',
    providers: openaiOnly,
    options: { attempts: 1 },
    arrange({ simulator }) {
      for (let at = 0; at < 5; at += 1) {
        simulator.faults.nextBatch({ outcome: 'failed', errors: [tokenLimit] });
      }
    },
    fates: answered,
    sentAgain: { atMost: 15 },
  },
  {
    fault: 'limit: `token_limit_exceeded`, in words that echo the key',
    providers: openaiOnly,
    options: { attempts: 1 },
    arrange({ simulator }) {
      const errors = [{ ...tokenLimit, message: `No room left for ${apiKey}.` }];
      simulator.faults.nextBatch({ outcome: 'failed', errors });
    },
    fates: answered,
    sentAgain: 3,
    check: ({ resent }) => expect(resent[0]).toContain('No room left for [redacted].'),
  },
  {
    fault: 'limit: enqueued tokens suffice for two of four batches at a time',
    providers: openaiOnly,
    prompts: four,
    options: { attempts: 1, batchSize: 1 },
    settings: { limits: { openai: { enqueuedTokens: 130 } } },
    arrange: () => undefined,
    fates: answered,
    sentAgain: { atMost: 6 },
    check: ({ heardAt }) => expect(Math.max(...heardAt)).toBeLessThan(hour),
  },
  {
    fault: 'limit: enqueued tokens suffice for two requests of a batch of four',
    providers: openaiOnly,
    prompts: four,
    options: { attempts: 1 },
    settings: { limits: { openai: { enqueuedTokens: 130 } } },
    arrange: () => undefined,
    fates: answered,
    sentAgain: { atMost: 12 },
    check: ({ heardAt }) => expect(Math.max(...heardAt)).toBeLessThan(2 * hour),
  },
  {
    fault: 'limit: enqueued tokens suffice for two requests of six, in Chinese',
    providers: openaiOnly,
    prompts: ['一', '二', '三', '四', '五', '六'].map((name) => name.repeat(200)),
    options: { attempts: 1 },
    settings: { limits: { openai: { enqueuedTokens: 540 } } },
    arrange: () => undefined,
    fates: answered,
    // Refused once, as a whole: what is sent then fits.
    sentAgain: 6,
  },
  {
    fault: 'limit: one request has more tokens than may ever be enqueued',
    providers: openaiOnly,
    prompts: ['one', `two ${'word '.repeat(400)}`],
    options: { attempts: 1 },
    settings: { limits: { openai: { enqueuedTokens: 130 } } },
    arrange: () => undefined,
    fates: [answered, failed('400 invalid_request_error')],
    sentAgain: { atMost: 6 },
    check: ({ heardAt }) => expect(Math.max(...heardAt)).toBeLessThan(3 * hour),
  },
  {
    fault: 'limit: `too_many_tasks` for more than two requests',
    providers: openaiOnly,
    prompts: four,
    options: { attempts: 1 },
    settings: { limits: { openai: { requestsPerBatch: 2 } } },
    arrange: () => undefined,
    fates: answered,
    sentAgain: 4,
  },
  {
    fault: 'limit: queue full (429) beyond two requests, four batches of one',
    providers: anthropicOnly,
    prompts: four,
    options: { attempts: 1, batchSize: 1 },
    settings: { limits: { anthropic: { queuedRequests: 2, retryAfterSeconds: 120 } } },
    arrange: () => undefined,
    fates: answered,
    sentAgain: 0,
    check: ({ heardAt }) => expect(Math.max(...heardAt)).toBeLessThan(40 * minute),
  },
  {
    fault: 'limit: queue full (429) beyond two requests, one batch of four',
    providers: anthropicOnly,
    prompts: four,
    options: { attempts: 1 },
    settings: { limits: { anthropic: { queuedRequests: 2, retryAfterSeconds: 120 } } },
    arrange: () => undefined,
    fates: answered,
    sentAgain: 0,
    check: ({ heardAt }) => expect(Math.max(...heardAt)).toBeLessThan(2 * hour),
  },
];
