import { isObject, type JsonObject, parseJson } from '../server/json.ts';
import { readLines } from '../server/lines.ts';
import type { BatchLine } from '../world/batches/batch.ts';
import type { VertexJob } from './details.ts';
import { endpointOf } from './names.ts';

const mostLines = 200_000;

/**
 * Reads the lines of the input. Lines of Gemini need a `request` and may have anything beside it, which is
 * echoed; lines of Claude have a `custom_id` and nothing else.
 */
export function takeLines(job: VertexJob, chunks: readonly Buffer[]): void {
  const isClaude = job.publisher === 'anthropic';
  const endpoint = endpointOf(job, job.model, isClaude ? 'rawPredict' : 'generateContent');
  for (const { line, text } of readLines(chunks)) {
    const read = parseJson(text);
    const problem = isObject(read) ? problemIn(read, isClaude) : 'not a JSON object';
    if (!isObject(read) || problem !== null) {
      job.problem = { code: 'invalid', message: `Line ${line} of the input: ${problem}.` };
      return;
    }
    const id = isClaude ? read.custom_id : read.key;
    const customId = typeof id === 'string' ? id : `row-${line}`;
    job.echoes.set(customId, read);
    job.requests.push({ customId, endpoint, body: read.request as JsonObject } as BatchLine);
  }
  if (job.requests.length === 0) job.problem = { code: 'invalid', message: 'The input is empty.' };
  if (job.requests.length > mostLines) {
    job.problem = { code: 'invalid', message: `The input has more than ${mostLines} lines.` };
  }
}

function problemIn(line: JsonObject, isClaude: boolean): string | null {
  if (!isObject(line.request)) return 'request is not specified';
  if (!isClaude) return null;
  if (typeof line.custom_id !== 'string') return 'custom_id is not specified';
  const unknown = Object.keys(line).find((name) => name !== 'custom_id' && name !== 'request');
  return unknown === undefined ? null : `unknown field ${unknown}`;
}
