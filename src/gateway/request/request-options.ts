import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { definitionOf } from '../../options/table.ts';
import type { OptionName } from '../../options/types.ts';
import type { Sampling } from '../../orchestrator/model/sampling.ts';
import { GatewayError } from '../gateway-error.ts';
import { type HeartbeatKind, heartbeatKinds } from '../waiting/waiting-response.ts';

/** Options of `batchify` that a client may set for its own request. */
const allowed: Readonly<Record<string, OptionName>> = {
  'x-batchling-window': 'window',
  'x-batchling-max-window': 'maxWindow',
  'x-batchling-batch-size': 'batchSize',
  'x-batchling-min-batch': 'minBatch',
  'x-batchling-on-small-batch': 'onSmallBatch',
  'x-batchling-completion-window': 'completionWindow',
  'x-batchling-deadline': 'deadline',
  'x-batchling-on-deadline': 'onDeadline',
  'x-batchling-on-slow': 'onSlow',
  'x-batchling-lane': 'lane',
  'x-batchling-canary': 'canary',
  'x-batchling-prime-cache': 'primeCache',
  'x-batchling-attempts': 'attempts',
  'x-batchling-name': 'name',
};

/** Headers of ours that are no options. */
const others: readonly string[] = [
  'x-batchling-token',
  'x-batchling-run',
  'x-batchling-cache',
  'x-batchling-heartbeat',
];

/** Fresh answers belong to a run: to this launch of the gateway, unless the client names its own. */
const ownRun = randomUUID();

/** The wishes that the headers of a request express. */
export interface RequestOptions {
  /** The options for `batchify`. */
  readonly options: Readonly<Record<string, unknown>>;
  /** The same text for the same options. */
  readonly key: string;
  readonly sampling: Sampling;
  /** `x-batchling: off` */
  readonly isOff: boolean;
  readonly isAsync: boolean;
  /** `undefined`: the client's name decides. */
  readonly heartbeat: HeartbeatKind | undefined;
}

export function requestOptions(headers: IncomingHttpHeaders): RequestOptions {
  const ours = Object.keys(headers).filter((name) => name.startsWith('x-batchling-'));
  const unknown = ours.find((name) => !others.includes(name) && !Object.hasOwn(allowed, name));
  if (unknown !== undefined) {
    const known = [...Object.keys(allowed), ...others].join(', ');
    throw new GatewayError(
      'bad_header',
      `The header ${unknown} is not known. There are: ${known}.`,
    );
  }
  const given = ours.filter((name) => Object.hasOwn(allowed, name)).sort();
  const texts = given.map((name) => [allowed[name] as OptionName, String(headers[name]).trim()]);
  const switchedOff = headers['x-batchling'];
  if (switchedOff !== undefined && switchedOff !== 'off') {
    throw new GatewayError('bad_header', 'The header x-batchling knows one value: off.');
  }
  return {
    ...readOptions(JSON.stringify(texts)),
    sampling: samplingOf(headers),
    isOff: switchedOff === 'off',
    isAsync: /(^|[,;\s])respond-async($|[,;\s])/i.test(String(headers.prefer ?? '')),
    heartbeat: heartbeatOf(headers),
  };
}

/** Options by their key, which is what the headers said. */
export function readOptions(key: string): Pick<RequestOptions, 'options' | 'key'> {
  const texts = JSON.parse(key) as [OptionName, string][];
  const options = Object.fromEntries(texts.map(([name, text]) => [name, readOption(name, text)]));
  return { options, key };
}

function samplingOf(headers: IncomingHttpHeaders): Sampling {
  const run = headers['x-batchling-run'];
  if (run !== undefined && !/^[\w.-]{1,64}$/.test(String(run))) {
    throw new GatewayError(
      'bad_header',
      'x-batchling-run must be 1 to 64 letters, digits, dots, dashes or underscores.',
    );
  }
  const cache = headers['x-batchling-cache'] ?? 'true';
  if (cache !== 'true' && cache !== 'false') {
    throw new GatewayError('bad_header', 'x-batchling-cache must be true or false.');
  }
  const isFresh = cache === 'false';
  return {
    run: run === undefined ? (isFresh ? ownRun : undefined) : String(run),
    fresh: isFresh,
    again: Number(headers['x-stainless-retry-count'] ?? 0) > 0,
  };
}

function heartbeatOf(headers: IncomingHttpHeaders): HeartbeatKind | undefined {
  const kind = headers['x-batchling-heartbeat'];
  if (kind === undefined) return undefined;
  const known = heartbeatKinds.find((one) => one === kind);
  if (known) return known;
  throw new GatewayError(
    'bad_header',
    `x-batchling-heartbeat must be one of ${heartbeatKinds.join(', ')}.`,
  );
}

/** The text as the option's variable would be read; it is checked with the other options. */
function readOption(name: OptionName, text: string): unknown {
  try {
    return definitionOf(name).read?.(text) ?? text;
  } catch {
    return text;
  }
}
