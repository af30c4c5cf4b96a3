import type { ProviderNotes } from '../provider-notes.ts';

export const bedrockNotes: ProviderNotes = {
  title: 'Amazon Bedrock',
  foundBy:
    "its client request token, which is also its name; a batch of OpenAI's wire by its input, whose name is its own",
  remarks: [
    'Needs `providers: { bedrock: { bucket: "s3://bucket/prefix", roleArn: "arn:aws:iam::…:role/…" } }`: the role reads and writes the bucket for Bedrock, and belongs to the account of the keys. Input and output go to `batchling/<batch>/` there, and are deleted once the answers are stored. [bedrock.md](bedrock.md) has the two policies.',
    'batchling signs its own requests: a captured signature serves one call only. It takes the keys of `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`, else whatever `@aws-sdk/credential-provider-node` finds if that package is installed (profiles, SSO, roles), else those of `providers: { bedrock: { credential } }`, which wins over both. A Bedrock API key (`AWS_BEARER_TOKEN_BEDROCK`) serves calls, but S3 takes none, so keys are needed beside it.',
    'A job takes at least 100 records. A queue with fewer waits for more up to `maxWindow`; what is still too few then goes out by `onSmallBatch`, as ordinary calls, which is said. A few requests that are tried again do so at once.',
    'InvokeModel and Converse are batched, also as streams, for the AWS SDK, whose calls go over HTTP/2, and for clients on `fetch`. A stream by InvokeModel is batched for Claude only.',
    "Chat completions at `/openai/v1`, as OpenAI's SDK asks them, are batched for OpenAI's models by Bedrock's own batch API in OpenAI's words: the same bucket and role, one window (`24h`).",
    "Not batched, with a warning: `toolConfig` of Converse, which jobs refuse (tools in the body of InvokeModel are taken), guardrails, `performanceConfig`, service tiers, prompts, provisioned throughput, `bedrock-mantle`, responses of OpenAI's wire, and its chat completions of other models.",
    "A final error has the class `ModelErrorException` or `ModelTimeoutException` where the provider's own status would make the AWS SDK ask again: it knows no header that says otherwise. `originalStatusCode` has that status.",
    'Windows from one day (`completionWindow: "24h"`) to seven (`"7d"`). Rows that were written before a job was stopped, expired or failed are paid for, and are used.',
    'With the option `hosts` jobs are made at the same base, and so is S3 unless `s3Endpoint` names a server for it; `region` says what the host does not. A gateway of `batchling serve` does not take signed calls: they are signed for another host.',
  ],
  unconfirmed: [
    'How long Bedrock remembers a token: batchling looks in the list of jobs first, and repeats the very same create only where the job is not there.',
    'The most records and jobs, which differ by model and region: batchling sends 50,000 records and keeps 20 jobs under way; `limits` of the provider changes that.',
    'Whether a batch takes `anthropic_version: "2026-10-21"`, which @anthropic-ai/bedrock-sdk writes from version 1 on: the body is sent as it came.',
    "Whether batches of OpenAI's wire need 100 requests, too (batchling waits for as many), and how many they may have.",
    'Whether the control plane takes Bedrock API keys: its requests are signed with keys.',
  ],
};
