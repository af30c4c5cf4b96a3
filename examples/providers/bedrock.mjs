// Ordinary code for Amazon Bedrock, with the SDK of AWS. It knows nothing of batchling. A job needs a bucket of yours and
// a role that may use it; batchling.config.ts names them:
//
//   export default { providers: { bedrock: { bucket: 's3://my-bucket/llm', roleArn: 'arn:aws:iam::123456789012:role/batches' } } };
//
//   AWS_REGION=us-east-1 npx batchling run examples/providers/bedrock.mjs
import { BedrockRuntimeClient, ConverseCommand } from '@aws-sdk/client-bedrock-runtime';

const client = new BedrockRuntimeClient({ endpoint: process.env.BEDROCK_ENDPOINT });
// A job has at least a hundred records.
const numbers = Array.from({ length: 120 }, (_, index) => index + 1);

async function spell(number) {
  const messages = [{ role: 'user', content: [{ text: `In Portuguese, one word: ${number}` }] }];
  const modelId = process.env.BEDROCK_MODEL ?? 'amazon.nova-lite-v1:0';
  const { output } = await client.send(new ConverseCommand({ modelId, messages }));
  return `${number}: ${output.message.content[0].text}`;
}

console.log((await Promise.all(numbers.map(spell))).join('\n'));
