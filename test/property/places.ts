/** Where a fault can strike. */
export interface Place {
  readonly name: string;
  readonly provider: 'openai' | 'anthropic';
  readonly method: string;
  readonly path: string | RegExp;
  /** A request of batchling's own, not one of the program's that went out as it is. */
  readonly wire: boolean;
}

const place = (
  name: string,
  provider: Place['provider'],
  method: string,
  path: string | RegExp,
  wire = true,
): Place => ({ name, provider, method, path, wire });

export const places: readonly Place[] = [
  place('upload', 'openai', 'POST', '/v1/files'),
  place('create', 'openai', 'POST', '/v1/batches'),
  place('list', 'openai', 'GET', '/v1/batches'),
  place('poll', 'openai', 'GET', /^\/v1\/batches\/[^/]+$/),
  place('results', 'openai', 'GET', /^\/v1\/files\/[^/]+\/content$/),
  place('cancel', 'openai', 'POST', /\/cancel$/),
  place('cleanup', 'openai', 'DELETE', /^\/v1\/files\//),
  place('realtime', 'openai', 'POST', '/v1/chat/completions', false),
  place('create', 'anthropic', 'POST', '/v1/messages/batches'),
  place('list', 'anthropic', 'GET', '/v1/messages/batches'),
  place('poll', 'anthropic', 'GET', /^\/v1\/messages\/batches\/[^/]+$/),
  place('results', 'anthropic', 'GET', /\/results$/),
  place('cancel', 'anthropic', 'POST', /\/cancel$/),
  place('realtime', 'anthropic', 'POST', '/v1/messages', false),
];
