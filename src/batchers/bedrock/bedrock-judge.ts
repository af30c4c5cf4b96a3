import { field, parseJson, text } from '../../base/json.ts';
import {
  type FailedReply,
  judgeByStatus,
  judgePlace,
  type ReplyJudge,
  type ReplyVerdict,
} from '../shared/judge-reply.ts';
import { errorAnswer } from './bedrock-errors.ts';

/** The name of an error: `ValidationException`, with or without the address of its documentation. */
function nameOf({ headers, body }: Pick<FailedReply, 'headers' | 'body'>): string {
  const told = headers['x-amzn-errortype'] ?? text(field(parseJson(body), '__type')) ?? '';
  return told.replace(/:.*$/, '').replace(/^.*#/, '');
}

/** Refusals of Bedrock, for callers in classes that the AWS SDK does not try again. */
export const judgeBedrock: ReplyJudge = (reply) => ({
  ...verdictOfBedrock(reply),
  answerWith: (message) => errorAnswer(reply.status, message),
});

/** Some refusals that will pass have the status 400. */
function verdictOfBedrock(reply: FailedReply): ReplyVerdict {
  switch (nameOf(reply)) {
    case 'ThrottlingException':
    case 'TooManyRequestsException':
      return { meaning: 'busy', next: 'later' };
    case 'ServiceQuotaExceededException':
      return { meaning: 'full', next: 'later' };
    // Something with this token is there or being made: it is looked for.
    case 'ConflictException':
      return { meaning: 'busy', next: 'later', unclear: true };
    case 'ExpiredTokenException':
    case 'UnrecognizedClientException':
    case 'InvalidSignatureException':
      return { meaning: 'denied', next: 'fail' };
    default:
      return judgeByStatus(reply);
  }
}

/** Refusals where jobs are made. A server that makes none does not speak of it as Bedrock does. */
export const judgeCreate: ReplyJudge = (reply) => {
  const name = nameOf(reply);
  const isBedrock = name !== '' && name !== 'UnknownOperationException';
  const verdict = judgeBedrock(reply);
  return isBedrock ? verdict : { ...verdict, ...judgePlace(judgeBedrock)(reply) };
};

const bucketAdvice =
  'Check providers.bedrock.bucket: it must exist in the region of the jobs, and the AWS keys must be allowed to read and write it.';
const keyAdvice = 'Check the AWS keys that batchling signs its own requests with.';

/** What to look at, by the code of S3, where it is not the bucket. */
const adviceFor: Readonly<Record<string, string>> = {
  ExpiredToken: keyAdvice,
  InvalidAccessKeyId: keyAdvice,
  InvalidToken: keyAdvice,
  SignatureDoesNotMatch: keyAdvice,
  RequestTimeTooSkewed: 'Set the clock of this machine.',
};

/** Refusals of S3. It speaks XML, which no client of Bedrock can read. */
export const judgeStorage: ReplyJudge = (reply) => {
  const code = codeIn(reply);
  const advice = adviceFor[code ?? ''] ?? bucketAdvice;
  return {
    ...verdictOfStorage(reply, code),
    answerWith: (message) =>
      errorAnswer(
        reply.status,
        `S3 refused a file of the batch (${code ?? reply.status}: ${message}). ${advice}`,
      ),
  };
};

function codeIn({ body }: FailedReply): string | undefined {
  return /<Code>([^<]*)<\/Code>/.exec(body)?.[1];
}

function verdictOfStorage(reply: FailedReply, code: string | undefined): ReplyVerdict {
  if (code === 'ExpiredToken' || code === 'InvalidToken')
    return { meaning: 'denied', next: 'fail' };
  if (code === 'RequestTimeout' || code === 'SlowDown') return { meaning: 'busy', next: 'later' };
  return judgeByStatus(reply);
}

/** A bucket that is not there will not be there later either. A server without S3 has no words of S3. */
export const judgeUpload: ReplyJudge = (reply) => {
  const verdict = judgeStorage(reply);
  if (codeIn(reply) === undefined) return { ...verdict, ...judgePlace(judgeStorage)(reply) };
  return verdict.meaning === 'gone' ? { ...verdict, meaning: 'refused' } : verdict;
};
