import { expect } from 'vitest';
import {
  answered,
  both,
  type FaultCase,
  failed,
  hour,
  minute,
  openaiOnly,
  requests,
} from '../fault-case.ts';

const four = ['one', 'two', 'three', 'four'];

/** What passes with time at a provider, and how much of something it allows in a time. */
export const timeFaults: readonly FaultCase[] = [
  {
    fault: 'time: a batch of 30 hours that expires by the clock after 24, with a part of it done',
    providers: both,
    prompts: ['one', 'two', 'three', 'four', 'five'],
    settings: { expiresAfter: 24 * hour, speed: { running: 30 * hour } },
    arrange({ simulator, scope }) {
      // The next batch has less to do.
      scope.on('batch:ended', () => simulator.configure({ speed: { running: minute } }));
    },
    fates: answered,
    sentAgain: 1,
    check: ({ heardAt }) => expect(Math.max(...heardAt)).toBeGreaterThan(24 * hour),
  },
  {
    fault: 'limit: two creates per hour, four batches of one',
    providers: both,
    prompts: four,
    options: { attempts: 1, batchSize: 1 },
    settings: {
      limits: { openai: { createsPerHour: 2 }, anthropic: { createsPerHour: 2 } },
    },
    arrange: () => undefined,
    fates: answered,
    sentAgain: 0,
    check: ({ heardAt }) => expect(Math.max(...heardAt)).toBeLessThan(4 * hour),
  },
  {
    fault: 'limit: three requests of any kind per minute',
    providers: both,
    prompts: four,
    options: { attempts: 1, batchSize: 2 },
    settings: {
      limits: { openai: { requestsPerMinute: 3 }, anthropic: { requestsPerMinute: 3 } },
    },
    arrange: () => undefined,
    fates: answered,
    sentAgain: 0,
    check: ({ heardAt }) => expect(Math.max(...heardAt)).toBeLessThan(2 * hour),
  },
  {
    fault: 'batch failed: somebody has deleted its input file during validation',
    providers: openaiOnly,
    settings: { speed: { validating: 10 * minute } },
    arrange({ simulator, scope }) {
      scope.on('batch:submitted', () => simulator.configure({ fileLag: 30 * minute }));
    },
    fates: failed('400 invalid_request_error'),
    sentAgain: 0,
  },
  {
    fault: 'wire: fields nobody knows and custom ids of more than 64 characters are refused',
    providers: both,
    arrange: () => undefined,
    fates: answered,
    sentAgain: 0,
    // The simulator always does so: none of ours is of that kind.
    check: ({ simulator }) => expect(simulator.countRequests('POST', requests.create.path)).toBe(1),
  },
];
