import { errorBody as openaiErrorBody } from '../openai-like/errors.ts';
import { Refusal } from '../server/exchange.ts';

const names: Record<number, string> = {
  400: 'ValidationException',
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  408: 'ModelTimeoutException',
  409: 'ConflictException',
  424: 'ModelErrorException',
  429: 'ThrottlingException',
  500: 'InternalServerException',
  503: 'ServiceUnavailableException',
};

/** A refusal of Bedrock, with the name by which the AWS SDK knows it. */
export function refusal(status: number, message: string, name = names[status]): Refusal {
  const headers = name === undefined ? {} : { 'x-amzn-errortype': name };
  return new Refusal(status, message, { headers });
}

export function errorBody(refusal: Refusal, _requestId: string, path: string): unknown {
  return path.startsWith('/openai/') ? openaiErrorBody(refusal) : { message: refusal.message };
}
