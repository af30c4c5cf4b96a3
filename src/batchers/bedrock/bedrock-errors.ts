import type { Answer } from '../../base/types.ts';

/** Names by which the AWS SDK makes its classes. */
const names: Readonly<Record<number, string>> = {
  400: 'ValidationException',
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  408: 'ModelTimeoutException',
  424: 'ModelErrorException',
};

/**
 * The status of an error that nobody is to try again. The AWS SDK has no header that says so: it asks again after 429 and
 * the statuses of servers, whatever they say.
 */
export function finalStatus(status: number): number {
  if (status === 504) return 408;
  // S3 redirects to the region of a bucket, which a client of Bedrock must not follow.
  if (status < 400) return 400;
  return status === 429 || status >= 500 ? 424 : status;
}

/** An error as Bedrock answers it, in a class that the AWS SDK does not try again. */
export function errorAnswer(given: number, message: string): Answer {
  const status = finalStatus(given);
  const name = names[status] ?? 'ValidationException';
  return {
    status,
    headers: { 'content-type': 'application/json', 'x-amzn-errortype': name },
    body: JSON.stringify({
      message,
      ...(status !== given && { originalStatusCode: given }),
      ...forOpenAI(message, name),
    }),
  };
}

/** What batchling itself says, by the type of its errors. */
export function ownErrorBody(type: string, message: string): string {
  const isLate = type === 'batchling_expired' || type === 'batchling_deadline';
  const isLost = type === 'batchling_missing' || type === 'batchling_store';
  const name = names[isLate ? 408 : isLost ? 424 : 400];
  return JSON.stringify({ message, type, __type: name, ...forOpenAI(message, type) });
}

/** Where the clients of OpenAI, which Bedrock answers, too, look for what went wrong. */
function forOpenAI(message: string, type: string) {
  return { error: { message, type, param: null, code: null } };
}
