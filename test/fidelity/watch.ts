import type { ClientRequest, IncomingMessage } from 'node:http';

/** Everything that a client can see of a request, until it is over. */
export interface Seen {
  readonly events: string[];
  status?: number | undefined;
  rawHeaders?: string[];
  trailers?: Record<string, string | undefined>;
  body?: string;
  error?: string | undefined;
  reused?: boolean;
}

const requestEvents = ['socket', 'continue', 'information', 'finish', 'timeout', 'abort', 'drain'];
const responseEvents = ['end', 'aborted', 'close'];

export function watch(request: ClientRequest): Promise<Seen> {
  const seen: Seen = { events: [] };
  for (const name of requestEvents) request.on(name, () => note(seen, name));
  request.on('error', (error: NodeJS.ErrnoException) => {
    note(seen, 'error');
    seen.error = `${error.code} ${error.message}`;
  });
  request.on('response', (response) => {
    note(seen, 'response');
    readResponse(response, seen);
  });
  return new Promise((resolve) => {
    request.on('close', () => {
      note(seen, 'close');
      seen.reused = request.reusedSocket;
      // Whatever was to come right behind it.
      setImmediate(() => setImmediate(() => resolve(seen)));
    });
  });
}

function readResponse(response: IncomingMessage, seen: Seen): void {
  seen.status = response.statusCode;
  seen.rawHeaders = response.rawHeaders;
  seen.body = '';
  response.setEncoding('latin1').on('data', (text: string) => {
    seen.body += text;
  });
  for (const name of responseEvents) response.on(name, () => note(seen, `response ${name}`));
  response.on('error', (error: NodeJS.ErrnoException) =>
    note(seen, `response error ${error.code}`),
  );
  response.on('end', () => {
    seen.trailers = response.trailers;
  });
}

/** How often something drains depends on the speed of the machine. */
function note(seen: Seen, name: string): void {
  if (name !== 'drain' || !seen.events.includes('drain')) seen.events.push(name);
}
