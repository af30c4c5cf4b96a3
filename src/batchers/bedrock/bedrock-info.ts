import { awsCredentialHeaders, lastingCredential } from '../aws/aws-identity.ts';
import type { GivenCredential } from '../aws/aws-keys.ts';
import type { ProviderInfo, Setting } from '../provider-info.ts';

/** A bucket, and folders of which none is `.` or `..`: a URL would lead out of the bucket. */
const inBucket = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:\/(?!\.{1,2}(?:\/|$))[\w.=+@~-]+)*$/;

const bucket: Setting<string> = {
  help: 'the bucket of S3, or a folder in one, for input and output files of jobs',
  allowed: 'a bucket of S3: "bucket", "s3://bucket" or "s3://bucket/prefix"',
  parse: (value) => {
    if (typeof value !== 'string') return undefined;
    const name = value.replace(/^s3:\/\//, '').replace(/\/+$/, '');
    return inBucket.test(name) ? `s3://${name}` : undefined;
  },
};

const roleArn: Setting<string> = {
  help: 'the service role that reads and writes the bucket for Bedrock',
  allowed: 'the ARN of a role, "arn:aws:iam::123456789012:role/name"',
  parse: (value) =>
    typeof value === 'string' && /^arn:aws[\w-]*:iam::\d{12}:role\/[\w+=,.@/-]+$/.test(value)
      ? value
      : undefined,
};

const region: Setting<string> = {
  help: 'the region, where the host of the calls does not name it',
  allowed: 'a region of AWS, "us-east-1"',
  parse: (value) =>
    typeof value === 'string' && /^[a-z]{2,5}(-[a-z]+)+-\d+$/.test(value) ? value : undefined,
};

const s3Endpoint: Setting<string> = {
  help: 'a server that speaks S3, where it is not the one of the region; buckets stand in its paths',
  allowed: 'the URL of a server, "https://s3.example.com"',
  parse: (value) =>
    typeof value === 'string' && /^https?:\/\/[^\s?#@]+$/.test(value) && URL.canParse(value)
      ? value.replace(/\/+$/, '')
      : undefined,
};

const credential: Setting<GivenCredential> = {
  help: 'asked for keys before every request to AWS: fromNodeProviderChain() of the AWS SDK, or a function of your own',
  allowed:
    'a function that returns { accessKeyId, secretAccessKey, sessionToken }, or a promise of it',
  parse: (value) => (typeof value === 'function' ? (value as GivenCredential) : undefined),
};

const noBatches = 'AWS has no batches at this address';

/** What is known of Amazon Bedrock. The model stands in the path of a call, and the region in its host. */
export const bedrockInfo: ProviderInfo<
  'bedrock',
  {
    roleArn: Setting<string>;
    bucket: Setting<string>;
    region: Setting<string>;
    s3Endpoint: Setting<string>;
    credential: Setting<GivenCredential>;
  }
> = {
  name: 'bedrock',
  hosts: [
    'bedrock-runtime.*.amazonaws.com',
    'bedrock-runtime-fips.*.amazonaws.com',
    'bedrock-runtime.*.amazonaws.com.cn',
    'bedrock-runtime.*.amazonaws.eu',
    'bedrock-runtime.*.api.aws',
    'bedrock-runtime-fips.*.api.aws',
  ],
  unbatchedHosts: ['bedrock-mantle.*.api.aws'],
  roots: [''],
  versions: [],
  sdkAddsRoot: true,
  endpoints: [
    '/model/*/invoke',
    '/model/*/invoke-with-response-stream',
    '/model/*/converse',
    '/model/*/converse-stream',
    '/openai/v1/chat/completions',
  ],
  unbatched: ['/model/*/invoke-with-bidirectional-stream', '/async-invoke', '/openai/v1/responses'],
  unbatchedBecause: {
    '/openai/v1/responses': noBatches,
    // The rest are paths of bedrock-mantle.
    '/openai/v1/chat/completions': noBatches,
    '/v1/chat/completions': noBatches,
    '/v1/responses': noBatches,
    '/anthropic/v1/messages': noBatches,
  },
  wires: [
    {
      title: 'Amazon Bedrock',
      before: '/model/[^/]+/',
      endings: ['invoke', 'invoke-with-response-stream', 'converse', 'converse-stream'],
    },
  ],
  credentialHeaders: awsCredentialHeaders,
  lastingCredential,
  accountHeaders: [],
  ownHeaders: /^x-amzn-bedrock-/,
  environment: ['AWS_ACCESS_KEY_ID', 'AWS_BEARER_TOKEN_BEDROCK'],
  packages: [
    '@aws-sdk/client-bedrock-runtime',
    '@anthropic-ai/bedrock-sdk',
    '@ai-sdk/amazon-bedrock',
    '@langchain/aws',
  ],
  requestIdHeader: 'x-amzn-requestid',
  priceListName: 'aws',
  settings: { roleArn, bucket, region, s3Endpoint, credential },
  exactlyFindable: true,
};
