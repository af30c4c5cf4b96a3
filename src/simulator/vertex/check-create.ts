import { demandKnown } from '../google/errors.ts';
import { Refusal } from '../server/exchange.ts';
import { isObject, type JsonObject } from '../server/json.ts';
import type { Publisher, VertexJob } from './details.ts';
import type { Place } from './names.ts';

const known = [
  'name',
  'displayName',
  'model',
  'modelVersionId',
  'inputConfig',
  'instanceConfig',
  'modelParameters',
  'outputConfig',
  'serviceAccount',
  'labels',
  'encryptionSpec',
];

type Checked = Pick<
  VertexJob,
  'publisher' | 'model' | 'displayName' | 'labels' | 'inputUri' | 'outputUri'
>;

/** The body of a create. Input and output are in Cloud Storage; BigQuery is not played here. */
export function checkCreate(body: JsonObject, { location }: Place): Checked {
  demandKnown(body, known, '');
  const { displayName, labels, inputConfig, outputConfig } = body;
  if (typeof displayName !== 'string' || displayName === '' || displayName.length > 128) {
    throw new Refusal(400, 'display_name is required, with at most 128 characters.');
  }
  const { publisher, model } = modelIn(body.model);
  if (publisher === 'anthropic' && location === 'global') {
    throw new Refusal(400, 'Batch prediction of partner models is not supported in global.');
  }
  const input = part(inputConfig, ['instancesFormat', 'gcsSource'], 'input_config');
  demandWord(input.instancesFormat, 'input_config.instances_format');
  const { uris } = part(input.gcsSource, ['uris'], 'input_config.gcs_source');
  const [inputUri] = Array.isArray(uris) ? uris : [];
  if (!isUri(inputUri) || (uris as unknown[]).length !== 1) {
    throw new Refusal(400, 'input_config.gcs_source.uris needs exactly one gs:// URI.');
  }
  const output = part(outputConfig, ['predictionsFormat', 'gcsDestination'], 'output_config');
  demandWord(output.predictionsFormat, 'output_config.predictions_format');
  const at = 'output_config.gcs_destination';
  const { outputUriPrefix } = part(output.gcsDestination, ['outputUriPrefix'], at);
  if (!isUri(outputUriPrefix)) throw new Refusal(400, `${at} needs a gs:// URI.`);
  checkLabels(labels);
  const outputUri = outputUriPrefix.replace(/\/+$/, '');
  return { publisher, model, displayName, labels, inputUri, outputUri };
}

function modelIn(model: unknown): { publisher: Publisher; model: string } {
  const name = String(model ?? '').replace(/^projects\/[^/]+\/locations\/[^/]+\//, '');
  const [, publisher] = /^publishers\/(google|anthropic)\/models\/[^/]+$/.exec(name) ?? [];
  if (publisher === undefined) throw new Refusal(400, `The model "${name}" has no batches.`);
  return { publisher: publisher as Publisher, model: name };
}

function part(value: unknown, names: readonly string[], at: string): JsonObject {
  if (!isObject(value)) throw new Refusal(400, `${at} is not specified`);
  demandKnown(value, names, at);
  return value;
}

function demandWord(format: unknown, at: string): void {
  if (format !== 'jsonl') throw new Refusal(400, `${at} must be jsonl.`);
}

function isUri(value: unknown): value is string {
  return typeof value === 'string' && /^gs:\/\/[^/]+\/.+/.test(value);
}

function checkLabels(labels: unknown): void {
  if (labels === undefined) return;
  const isGood = (text: unknown) => typeof text === 'string' && /^[a-z0-9_-]{0,63}$/.test(text);
  if (isObject(labels) && Object.entries(labels).every((pair) => pair.every(isGood))) return;
  throw new Refusal(400, 'labels: keys and values may have [a-z0-9_-], at most 63 of them.');
}
