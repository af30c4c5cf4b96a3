import { createServer, type IncomingMessage } from 'node:http';
import http2 from 'node:http2';
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import * as grpc from '@grpc/grpc-js';
import { NodeHttp2Handler } from '@smithy/node-http-handler';
import { describe, expect, it } from 'vitest';
import { batchify } from '../../src/index.ts';

const scope = { store: ':memory:', bypass: 'error' } as const;

/** What differs from call to call by nature: times, signatures of them, ids. */
const volatile = /^(amz-sdk-invocation-id|authorization|x-amz-date|date|host|:authority)$/;

function lasting(headers: object): [string, unknown][] {
  return Object.entries(headers).filter(([name]) => !volatile.test(name));
}

const text = {
  requestSerialize: (value: string) => Buffer.from(value),
  requestDeserialize: (bytes: Buffer) => bytes.toString(),
  responseSerialize: (value: string) => Buffer.from(value),
  responseDeserialize: (bytes: Buffer) => bytes.toString(),
};
const service = {
  Upper: { path: '/test.Words/Upper', requestStream: false, responseStream: false, ...text },
  Chat: { path: '/test.Words/Chat', requestStream: true, responseStream: true, ...text },
  Fail: { path: '/test.Words/Fail', requestStream: false, responseStream: false, ...text },
} satisfies grpc.ServiceDefinition;

/** Talks to a gRPC server in every way, and says what was seen. */
async function useGrpc(): Promise<unknown> {
  const server = new grpc.Server();
  const metadataSeen: unknown[] = [];
  server.addService(service, {
    Upper(call: grpc.ServerUnaryCall<string, string>, done: grpc.sendUnaryData<string>) {
      metadataSeen.push(call.metadata.getMap());
      done(null, call.request.toUpperCase());
    },
    Chat(call: grpc.ServerDuplexStream<string, string>) {
      call.on('data', (word: string) => call.write(`${word}!`));
      call.on('end', () => call.end());
    },
    Fail(_call: unknown, done: grpc.sendUnaryData<string>) {
      done({ code: grpc.status.FAILED_PRECONDITION, details: 'not today' });
    },
  });
  const port = await new Promise<number>((resolve, reject) => {
    const credentials = grpc.ServerCredentials.createInsecure();
    server.bindAsync('127.0.0.1:0', credentials, (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  const Client = grpc.makeGenericClientConstructor(service, 'Words');
  const client = new Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure()) as unknown as {
    Upper(
      word: string,
      metadata: grpc.Metadata,
      done: (error: unknown, answer: string) => void,
    ): void;
    Fail(word: string, done: (error: grpc.ServiceError | null) => void): void;
    Chat(): grpc.ClientDuplexStream<string, string>;
    close(): void;
  };
  const metadata = new grpc.Metadata();
  metadata.set('x-mine', 'yes');
  const upper = await new Promise((resolve) =>
    client.Upper('word', metadata, (error, answer) => resolve([error, answer])),
  );
  const failed = await new Promise((resolve) =>
    client.Fail('word', (error) => resolve([error?.code, error?.details])),
  );
  const chat = client.Chat();
  const words: string[] = [];
  // Both directions at once: the next word goes out when the last one is back.
  chat.on('data', (word: string) => {
    words.push(word);
    if (words.length < 3) chat.write(`word ${words.length}`);
    else chat.end();
  });
  chat.write('word 0');
  await new Promise((resolve) => chat.once('end', resolve));
  client.close();
  await new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
  return { upper, failed, words, metadataSeen };
}

const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' };

/** Uses clients of AWS over HTTP/1.1, and says what server and client have seen. */
async function useAws(): Promise<unknown> {
  const requests: unknown[] = [];
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request);
    requests.push([request.method, request.url, lasting(request.headers), body]);
    if (request.headers['x-amz-target']) {
      response.setHeader('content-type', 'application/x-amz-json-1.0');
      response.end('{"Item":{"id":{"S":"1"}}}');
    } else {
      response.end(request.method === 'GET' ? 'content' : undefined);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const given = { endpoint: `http://127.0.0.1:${port}`, region: 'us-east-1', credentials };
  const s3 = new S3Client({ ...given, forcePathStyle: true });
  const where = { Bucket: 'bucket', Key: 'a key/ü.txt' };
  const { $metadata: put } = await s3.send(new PutObjectCommand({ ...where, Body: 'content' }));
  const { Body } = await s3.send(new GetObjectCommand(where));
  const dynamo = new DynamoDBClient(given);
  const item = new GetItemCommand({ TableName: 'table', Key: { id: { S: '1' } } });
  const { Item } = await dynamo.send(item);
  const seen = [put.httpStatusCode, await Body?.transformToString(), Item];
  s3.destroy();
  dynamo.destroy();
  server.closeAllConnections();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return { requests, seen };
}

/** The same client over HTTP/2, as others of AWS come. */
async function useAwsOverHttp2(): Promise<unknown> {
  const requests: unknown[] = [];
  const server = http2.createServer(async (request, response) => {
    const body = await bodyOf(request);
    requests.push([request.method, request.url, lasting(request.headers), body]);
    response.setHeader('content-type', 'application/x-amz-json-1.0');
    response.end('{"Item":{"id":{"S":"2"}}}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const dynamo = new DynamoDBClient({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'us-east-1',
    credentials,
    requestHandler: new NodeHttp2Handler(),
  });
  const item = () => new GetItemCommand({ TableName: 'table', Key: { id: { S: '2' } } });
  const answers = await Promise.all([dynamo.send(item()), dynamo.send(item())]);
  dynamo.destroy();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return { requests, items: answers.map(({ Item }) => Item) };
}

async function bodyOf(request: AsyncIterable<unknown> | IncomingMessage): Promise<string> {
  let body = '';
  for await (const piece of request) body += String(piece);
  return body;
}

describe('inside of a scope, clients that are none of its business see what they see outside', () => {
  it.each([
    ['@grpc/grpc-js', useGrpc],
    ['@aws-sdk/client-s3 and @aws-sdk/client-dynamodb', useAws],
    ['an AWS client over HTTP/2', useAwsOverHttp2],
  ])('%s', async (_name, use) => {
    const outside = await use();
    const inside = await batchify(use, scope);
    expect(inside).toEqual(outside);
  });
});
