import { BatchlingError } from '../../base/errors.ts';
import { fields, text } from '../../base/json.ts';
import type { AwsKeys } from './sign-request.ts';

/** What the user's function `credential` may return: keys, as the providers of the AWS SDK do, or a token. */
export type GivenCredential = () => unknown;

const peer = '@aws-sdk/credential-provider-node';

/** The AWS SDK's own search, once it is loaded. It renews keys that expire. */
let chain: Promise<() => Promise<AwsKeys>> | undefined;

/**
 * The keys that sign our own requests: the user's, those of the usual variables, else whatever the AWS SDK finds where
 * its package is installed (profiles, SSO, the role of a machine). A captured signature serves one call only, so no
 * key can be taken from it.
 */
export async function findAwsKeys(given?: GivenCredential): Promise<AwsKeys> {
  const own: unknown = await given?.();
  const keys = readKeys(own) ?? keysOfEnvironment();
  if (keys) return keys;
  chain ??= loadChain();
  // A package that is missing now may be there for the next request.
  chain.catch(() => {
    chain = undefined;
  });
  const keysNow = await chain;
  return keysNow().catch((cause: unknown) => {
    // Once there were keys, a search that fails is a matter of minutes.
    if (hasFound) throw cause;
    throw missing(cause);
  });
}

let hasFound = false;

function missing(cause: unknown): BatchlingError {
  return new BatchlingError(
    'NOT_AVAILABLE',
    'batchling signs its own requests to AWS and found no keys: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, ' +
      `or install ${peer}, which also finds profiles, SSO and roles, or give a function that returns keys as the ` +
      'setting `credential` of the provider.',
    { cause },
  );
}

/** A token in place of keys: what the user's function returns, if that is a text. */
export async function givenToken(given: GivenCredential | undefined): Promise<string | undefined> {
  return text(await given?.());
}

function keysOfEnvironment(): AwsKeys | undefined {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = process.env;
  return readKeys({
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    sessionToken: AWS_SESSION_TOKEN,
  });
}

function readKeys(value: unknown): AwsKeys | undefined {
  const { accessKeyId, secretAccessKey, sessionToken } = fields(value);
  const [id, secret] = [text(accessKeyId), text(secretAccessKey)];
  if (id === undefined || secret === undefined) return undefined;
  return { accessKeyId: id, secretAccessKey: secret, sessionToken: text(sessionToken) };
}

async function loadChain(): Promise<() => Promise<AwsKeys>> {
  const { defaultProvider } = await import('@aws-sdk/credential-provider-node').catch(
    (cause: unknown) => {
      throw missing(cause);
    },
  );
  const search = defaultProvider();
  return async () => {
    const keys = await search();
    hasFound = true;
    return keys;
  };
}
