import {
  answered,
  answeredAfter,
  anthropicOnly,
  both,
  type Fate,
  type FaultCase,
  failed,
  openaiOnly,
  type Provider,
} from '../fault-case.ts';

const nothing = () => undefined;

/** One line of three; the other two must not suffer. */
function line(
  what: string,
  marker: string,
  providers: readonly Provider[],
  fate: Fate,
  sentAgain: number,
): FaultCase {
  return {
    fault: `line: ${what}`,
    providers,
    prompts: [`[[${marker}]]`, 'two', 'three'],
    arrange: nothing,
    fates: [fate, answered, answered],
    sentAgain,
  };
}

/** What stands in the results, line by line. */
export const lineFaults: readonly FaultCase[] = [
  {
    fault: 'lines: in another order than they were sent',
    providers: both,
    prompts: Array.from({ length: 40 }, (_, at) => `question ${at}`),
    arrange: nothing,
    fates: answered,
    sentAgain: 0,
  },
  line('missing, once', 'once missing', both, answeredAfter(1), 1),
  line('missing, always', 'missing', both, failed('502 batchling_missing', 3), 2),
  line('broken, once', 'once broken', both, answeredAfter(1), 1),
  line('broken, always', 'broken', both, failed('502 batchling_missing', 3), 2),
  line('status 200 with an empty body, once', 'once empty', both, answeredAfter(1), 1),
  line(
    'status 200 with an empty body, always',
    'empty',
    both,
    failed('502 batchling_missing', 3),
    2,
  ),
  line('twice the same', 'double', both, answered, 0),
  line('a further one of a stranger', 'foreign', both, answered, 0),
  line('429, once', 'once status 429', both, answeredAfter(1), 1),
  line('429, always', 'status 429', openaiOnly, failed('429 rate_limit_exceeded', 3), 2),
  line('429, always', 'status 429', anthropicOnly, failed('429 rate_limit_error', 3), 2),
  line('500, once', 'once status 500', both, answeredAfter(1), 1),
  line('500, always', 'status 500', openaiOnly, failed('500 server_error', 3), 2),
  line('`api_error`, always', 'status 500', anthropicOnly, failed('500 api_error', 3), 2),
  line('`overloaded_error`, once', 'once status 529', anthropicOnly, answeredAfter(1), 1),
  line(
    '`overloaded_error`, always',
    'status 529',
    anthropicOnly,
    failed('529 overloaded_error', 3),
    2,
  ),
  line('400', 'status 400', both, failed('400 invalid_request_error', 1), 0),
  line('status 0 with an empty body, once', 'once status 0', openaiOnly, answeredAfter(1), 1),
  line(
    'status 0 with an empty body, always',
    'status 0',
    openaiOnly,
    failed('502 batchling_missing', 3),
    2,
  ),
  line('an error without a status, once', 'once unstated', both, answeredAfter(1), 1),
  line('expired, once', 'once expired', both, answeredAfter(1), 1),
  line('expired, always', 'expired', both, failed('504 batchling_expired', 2), 1),
  line('cancelled', 'canceled', both, failed('499 batchling_cancelled', 1), 0),
  {
    fault: 'lines: an answer and an error for each id',
    providers: both,
    prompts: Array.from({ length: 8 }, (_, at) => `${at} [[both]]`),
    arrange: nothing,
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'lines: all failed with 400, so there is an error file only',
    providers: both,
    prompts: ['a [[status 400]]', 'b [[status 400]]'],
    arrange: nothing,
    fates: failed('400 invalid_request_error', 1),
    sentAgain: 0,
  },
  {
    fault: 'lines: none at all for any request, once',
    providers: both,
    prompts: ['a [[once missing]]', 'b [[once missing]]'],
    arrange: nothing,
    fates: answeredAfter(1),
    sentAgain: 2,
  },
];
