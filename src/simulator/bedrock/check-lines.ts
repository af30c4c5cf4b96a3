import { isObject, parseJson } from '../server/json.ts';
import { readLines } from '../server/lines.ts';
import type { BedrockJob } from './details.ts';
import { endpointOf } from './dialect.ts';

/** Reads the records of the input. Only JSON and counts are looked at: a body is wrong by itself, at the end. */
export function takeRecords(
  job: BedrockJob,
  chunks: readonly Buffer[],
  least: number,
  most: number,
): void {
  const endpoint = endpointOf(job.modelId, job.type);
  const fail = (message: string) => {
    job.problem = { code: 'invalid', message };
  };
  for (const { line, text } of readLines(chunks)) {
    const record = parseJson(text);
    if (!isObject(record) || !isObject(record.modelInput)) {
      fail(`The record at line ${line} is not valid JSON with a modelInput.`);
      return;
    }
    const { recordId = `RECORD${String(line).padStart(7, '0')}`, modelInput } = record;
    const customId = String(recordId);
    job.echoes.set(customId, modelInput);
    job.requests.push({ customId, endpoint, body: modelInput });
  }
  const { length } = job.requests;
  if (length < least) {
    fail(
      `Record count ${length} is below the minimum number of ${least} records per batch inference job.`,
    );
  } else if (length > most) {
    fail(
      `Record count ${length} is above the maximum number of ${most} records per batch inference job.`,
    );
  }
}
