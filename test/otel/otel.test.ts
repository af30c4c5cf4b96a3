import { channel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, sep } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { context, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { batchify } from '../../src/index.ts';
import { instrument } from '../../src/otel/index.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

const source = fileURLToPath(new URL('../../src', import.meta.url));

let stage: Stage;
let spans: InMemorySpanExporter;
let tracerProvider: BasicTracerProvider;
let measured: InMemoryMetricExporter;
let meterProvider: MeterProvider;
let stop: () => void;
beforeAll(async () => {
  stage = await openStage();
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});
afterAll(async () => {
  context.disable();
  await stage.close();
});
beforeEach(() => {
  stage.simulator.reset();
  spans = new InMemorySpanExporter();
  tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  measured = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({
    exporter: measured,
    exportIntervalMillis: 3_600_000,
  });
  meterProvider = new MeterProvider({ readers: [reader] });
  stop = instrument({ tracerProvider, meterProvider });
});
afterEach(async () => {
  stop();
  await Promise.all([tracerProvider.shutdown(), meterProvider.shutdown()]);
});

const tracer = () => tracerProvider.getTracer('test');
/** From a minute to two days, in seconds. */
const hours = [60, 300, 900, 1_800, 3_600, 7_200, 14_400, 28_800, 43_200, 86_400, 172_800];

const ask = (content: string, model = 'gpt-5-mini') =>
  stage.openai({ maxRetries: 0 }).chat.completions.create({
    model,
    messages: [{ role: 'user', content }],
  });

/** Does it within a span, which is ended with it. */
function within<T>(name: string, work: () => Promise<T>): Promise<T> {
  return tracer().startActiveSpan(name, (span) => work().finally(() => span.end()));
}

function named(name: string): ReadableSpan {
  const found = spans.getFinishedSpans().find((span) => span.name === name);
  if (!found) throw new Error(`There is no span ${name}`);
  return found;
}

const milliseconds = ([seconds, nanoseconds]: readonly [number, number]) =>
  seconds * 1_000 + nanoseconds / 1_000_000;

const traceOf = (span: ReadableSpan) => span.spanContext().traceId;

it('a batch has a span of its own, linked to the traces that asked, and calls have none', async () => {
  const one = () => within('one', () => ask('my prompt'));
  const two = () => within('two', () => ask('another'));
  await batchify(() => Promise.all([one(), two()]), stage.options());
  const batch = named('batch gpt-5-mini');
  expect(batch).toMatchObject({ kind: SpanKind.CLIENT, parentSpanContext: undefined });
  expect(batch.attributes).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'gpt-5-mini',
    'gen_ai.usage.input_tokens': expect.any(Number),
    'gen_ai.usage.output_tokens': expect.any(Number),
    'batchling.batch.id': expect.any(String),
    'batchling.batch.remote_id': stage.simulator.batches()[0]?.id,
    'batchling.batch.requests': 2,
    'batchling.batch.answered': 2,
    'batchling.batch.failed': 0,
    'batchling.lane': 'batch',
    'batchling.dollars.paid': expect.any(Number),
    'batchling.dollars.saved': expect.any(Number),
  });
  const asked = [named('one'), named('two')];
  expect(batch.links.map((link) => link.context.traceId)).toEqual(asked.map(traceOf));
  for (const span of asked) {
    expect(span.attributes).toMatchObject({
      'batchling.calls': 1,
      'batchling.source': 'batch',
      'batchling.batch.id': batch.attributes['batchling.batch.id'],
    });
    expect(span.links.map((link) => link.context)).toEqual([batch.spanContext()]);
  }
  const names = spans
    .getFinishedSpans()
    .map(({ name }) => name)
    .sort();
  const steps = ['create batch gpt-5-mini', 'upload batch gpt-5-mini'];
  expect(names).toEqual(['batch gpt-5-mini', ...steps, 'one', 'two'].sort());
  expect(steps.map(named).map(traceOf)).toEqual([traceOf(asked[0]!), traceOf(asked[0]!)]);
  const told = JSON.stringify(
    spans.getFinishedSpans().map(({ attributes, name }) => ({ attributes, name })),
  );
  for (const secret of ['my prompt', 'answer to', 'sk-test']) expect(told).not.toContain(secret);
});

it('a span that makes many calls has one link to their batch', async () => {
  const prompts = ['one', 'two', 'three'];
  await within('program', () =>
    batchify(() => Promise.all(prompts.map((prompt) => ask(prompt))), stage.options()),
  );
  const { attributes, links } = named('program');
  expect(attributes['batchling.calls']).toBe(3);
  const place = named('batch gpt-5-mini').spanContext();
  expect(links.map((link) => link.context)).toEqual([place]);
});

it('a batch that an earlier run has sent is linked to the trace that asked then', async () => {
  const { simulator } = stage;
  simulator.hold();
  const store = stage.newStore();
  const leaving = batchify(async () => {
    void within('first', () => ask('once'));
    await until(() => simulator.batches().length === 1, 'the batch');
    throw new Error('the end of the first run');
  }, stage.options({ store }));
  await expect(leaving).rejects.toThrow('the end of the first run');
  simulator.release();
  await within('second', () => batchify(() => ask('once'), stage.options({ store })));
  const batch = named('batch gpt-5-mini');
  const create = named('create batch gpt-5-mini');
  expect(batch.links.map((link) => link.context.traceId)).toEqual([traceOf(create)]);
  expect(traceOf(create)).not.toBe(traceOf(named('second')));
  expect(named('second').links.map((link) => link.context)).toEqual([batch.spanContext()]);
  expect(spans.getFinishedSpans().filter(({ name }) => name === batch.name)).toHaveLength(1);
  expect(simulator.batches()).toHaveLength(1);
});

it('a batch that fails as a whole is a span with its error', async () => {
  stage.simulator.configure({ models: ['another-model'] });
  const asked = batchify(() => within('program', () => ask('refused')), stage.options());
  await expect(asked).rejects.toThrow();
  const { status, attributes } = named('batch gpt-5-mini');
  expect(status.code).toBe(SpanStatusCode.ERROR);
  expect(attributes['error.type']).toEqual(expect.any(String));
});

it('each try of an upload and a create has a span with its own times, and with its error', async () => {
  const fault = (path: RegExp, status: number) =>
    stage.simulator.faults.add({
      ...{ method: 'POST', path, times: 1 },
      action: { kind: 'status', status, headers: { 'retry-after-ms': '30' } },
    });
  fault(/^\/v1\/files/, 503);
  fault(/^\/v1\/batches/, 429);
  await within('program', () => batchify(() => ask('again'), stage.options()));
  const steps = spans.getFinishedSpans().filter(({ name }) => / batch gpt/.test(name));
  const said = steps.map(({ name, attributes, status }) => {
    const isError = status.code === SpanStatusCode.ERROR;
    return [name.split(' ')[0], attributes['error.type'], isError];
  });
  expect(said).toEqual([
    ['upload', 'http_503', true],
    ['upload', undefined, false],
    ['create', 'http_429', true],
    ['create', undefined, false],
  ]);
  expect(new Set(steps.map(traceOf))).toEqual(new Set([traceOf(named('program'))]));
  const [first, second, third, last] = steps.map(({ startTime, endTime }) => ({
    start: milliseconds(startTime),
    end: milliseconds(endTime),
  }));
  expect(second!.start - first!.end).toBeGreaterThanOrEqual(25);
  expect(third!.start).toBeGreaterThanOrEqual(second!.end);
  expect(last!.start - third!.end).toBeGreaterThanOrEqual(25);
});

it('a create that is refused is a span with its error', async () => {
  stage.simulator.faults.add({ path: /^\/v1\/batches/, action: { kind: 'status', status: 400 } });
  const asked = batchify(() => within('program', () => ask('refused')), stage.options());
  await expect(asked).rejects.toThrow();
  const { status, attributes } = named('create batch gpt-5-mini');
  expect(status.code).toBe(SpanStatusCode.ERROR);
  expect(attributes['error.type']).toBe('http_400');
});

it.each(['google', 'mistral'] as const)(
  'a batch of %s that travels in its create has no upload',
  async (provider) => {
    const base = stage.simulator.baseUrl(provider);
    const isGoogle = provider === 'google';
    const messages = [{ role: 'user', content: 'inline' }];
    const path = isGoogle
      ? '/v1beta/models/gemini-2.5-flash:generateContent'
      : '/v1/chat/completions';
    const body = isGoogle
      ? { contents: [{ role: 'user', parts: [{ text: 'inline' }] }] }
      : { model: 'mistral-small', messages };
    const hosts = { [base]: provider };
    const response = await batchify(
      () =>
        fetch(`${base}${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: 'Bearer a-key' },
          body: JSON.stringify(body),
        }),
      stage.options({ hosts }),
    );
    expect(response.status).toBe(200);
    const names = spans.getFinishedSpans().map(({ name }) => name.split(' ')[0]);
    expect(names).toEqual(['create', 'batch']);
  },
);

it('our own requests make no spans, with the instrumentation of undici at work', async () => {
  const instrumentation = new UndiciInstrumentation();
  instrumentation.setTracerProvider(tracerProvider);
  instrumentation.enable();
  try {
    await within('program', () => batchify(() => ask('quiet'), stage.options()));
    const ours = [
      'batch gpt-5-mini',
      'create batch gpt-5-mini',
      'program',
      'upload batch gpt-5-mini',
    ];
    expect(
      spans
        .getFinishedSpans()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(ours);
    await (await fetch(stage.simulator.url)).text();
    expect(spans.getFinishedSpans()).toHaveLength(ours.length + 1);
  } finally {
    instrumentation.disable();
  }
});

it('counts tokens, dollars, durations, bypasses and retries', async () => {
  const only = 'openai:gpt-5-mini';
  await batchify(
    () => Promise.all([ask('count me'), ask('not me', 'gpt-4o')]),
    stage.options({ only, bypass: 'ignore' }),
  );
  const facts = { provider: 'google', endpoint: '/v1beta:generateContent', model: 'gemini' };
  channel('batchling:request:retried').publish({ ...facts, attempt: 2, reason: 'expired' });
  await meterProvider.forceFlush();
  const metrics =
    measured
      .getMetrics()
      .at(-1)
      ?.scopeMetrics.flatMap((scope) => scope.metrics) ?? [];
  const points = (name: string) =>
    metrics.find(({ descriptor }) => descriptor.name === name)?.dataPoints ?? [];
  const types = points('gen_ai.client.token.usage').map(({ attributes }) => attributes);
  expect(types).toEqual(
    ['input', 'output'].map((type) => ({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-5-mini',
      'gen_ai.token.type': type,
      'batchling.source': 'batch',
    })),
  );
  const [duration] = points('batchling.batch.duration');
  expect(duration?.value).toMatchObject({ count: 1, buckets: { boundaries: hours } });
  expect(points('batchling.calls.bypassed')).toMatchObject([
    { value: 1, attributes: { 'batchling.reason': 'left out by `only`' } },
  ]);
  expect(points('batchling.requests.retried')).toMatchObject([
    {
      value: 1,
      attributes: { 'gen_ai.provider.name': 'gcp.gemini', 'batchling.reason': 'expired' },
    },
  ]);
  expect(points('batchling.dollars.paid')[0]?.value).toBeGreaterThan(0);
  expect(points('batchling.dollars.saved')[0]?.value).toBeGreaterThan(0);
});

it('dollars saved may be less than nothing: the metric is the sum of the scope', async () => {
  // A batch has no cached rate for this model: it costs more than the same answer to an ordinary call.
  const usage = {
    prompt_tokens: 1_000_000,
    prompt_tokens_details: { cached_tokens: 1_000_000 },
    completion_tokens: 0,
  };
  stage.simulator.configure({ answer: () => ({ id: 'c', choices: [{}], usage }) });
  const scope = batchify(stage.options());
  await scope.run(() => ask('cached', 'gpt-4.1'));
  await scope.close();
  await meterProvider.forceFlush();
  const metrics =
    measured
      .getMetrics()
      .at(-1)
      ?.scopeMetrics.flatMap((one) => one.metrics) ?? [];
  const saved = metrics.find(({ descriptor }) => descriptor.name === 'batchling.dollars.saved');
  expect(scope.stats.dollars.saved).toBeCloseTo(0.5 - 1, 9);
  expect(saved?.dataPoints[0]?.value).toBeCloseTo(scope.stats.dollars.saved, 9);
});

it('spans arrive at a collector by OTLP', async () => {
  const bodies: string[] = [];
  const collector = createServer(async (request, response) => {
    bodies.push(await text(request));
    response.end('{}');
  });
  await once(collector.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}/v1/traces`;
  const exporting = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(new OTLPTraceExporter({ url }))],
  });
  stop();
  stop = instrument({ tracerProvider: exporting, meterProvider });
  await batchify(() => ask('by wire'), stage.options());
  await exporting.forceFlush();
  await exporting.shutdown();
  collector.close();
  const names = bodies.flatMap((body) => [...body.matchAll(/"name":"([^"]*batch gpt-5-mini)"/g)]);
  expect(names.map(([, name]) => name).sort()).toEqual([
    'batch gpt-5-mini',
    'create batch gpt-5-mini',
    'upload batch gpt-5-mini',
  ]);
  expect(bodies.join()).not.toContain('by wire');
});

it('nothing outside of this entry loads OpenTelemetry', async () => {
  const files = await readdir(source, { recursive: true });
  const naming: string[] = [];
  for (const file of files.filter((name) => name.endsWith('.ts'))) {
    const code = await readFile(join(source, file), 'utf8');
    if (code.includes("'@opentelemetry/")) naming.push(file.split(sep)[0] as string);
  }
  expect(new Set(naming)).toEqual(new Set(['otel']));
});

it('without it nothing is traced, and it can be undone', async () => {
  stop();
  await within('program', () => batchify(() => ask('untraced'), stage.options()));
  expect(spans.getFinishedSpans().map(({ name }) => name)).toEqual(['program']);
});

// The last one: a gateway that leaves takes its process along.
it('a gateway reads the trace of its client out of the header', async () => {
  const { Gateway } = await import('../../src/gateway/gateway.ts');
  const options = { ...stage.options() };
  const gateway = await Gateway.start({ port: 0, host: '127.0.0.1', options });
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const response = await fetch(`${gateway.baseUrls.openai}/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: 'Bearer sk-test',
      traceparent: `00-${traceId}-b7ad6b7169203331-01`,
    },
    body: JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content: 'hi' }] }),
  });
  expect(response.status).toBe(200);
  await response.text();
  await gateway.leave();
  expect(named('batch gpt-5-mini').links[0]?.context).toMatchObject({ traceId, isRemote: true });
});
