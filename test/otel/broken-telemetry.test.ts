import { context, type MeterProvider, type TracerProvider, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { BasicTracerProvider, type SpanProcessor } from '@opentelemetry/sdk-trace-base';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { batchify } from '../../src/index.ts';
import { instrument } from '../../src/otel/index.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
let uncaught: unknown[];
const hear = (error: unknown) => void uncaught.push(error);
beforeAll(async () => {
  stage = await openStage();
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});
afterAll(async () => {
  context.disable();
  await stage.close();
});
beforeEach(() => {
  uncaught = [];
  process.on('uncaughtException', hear);
});
afterEach(() => {
  process.off('uncaughtException', hear);
});

const fails = (what: string) => () => {
  throw new Error(`${what} is broken`);
};

/** A span each of whose methods fails, but for its place. */
const brokenSpan = (traceId: string) =>
  new Proxy({} as ReturnType<ReturnType<TracerProvider['getTracer']>['startSpan']>, {
    get: (_, name) => {
      if (name === 'spanContext')
        return () => ({ traceId, spanId: 'b7ad6b7169203331', traceFlags: 1 });
      if (name === 'isRecording') return () => true;
      return fails(`span.${String(name)}`);
    },
  });

const brokenTracers = {
  getTracer: () => ({ startSpan: fails('startSpan'), startActiveSpan: fails('startActiveSpan') }),
} as TracerProvider;
const instruments = { add: fails('add'), record: fails('record') };
const brokenMeters = {
  getMeter: () =>
    new Proxy({}, { get: () => () => instruments }) as ReturnType<MeterProvider['getMeter']>,
} as MeterProvider;

const onEnd: SpanProcessor = {
  onStart: () => undefined,
  onEnd: fails('a span processor'),
  forceFlush: async () => undefined,
  shutdown: async () => undefined,
};

it.each([
  ['a tracer', { tracerProvider: brokenTracers }],
  ['a span processor', { tracerProvider: new BasicTracerProvider({ spanProcessors: [onEnd] }) }],
  ['a meter', { meterProvider: brokenMeters }],
])('%s that throws breaks no call and no program', async (_, providers) => {
  const stop = instrument(providers);
  const ask = (content: string) =>
    stage.openai({ maxRetries: 0 }).chat.completions.create({
      model: 'gpt-5-mini',
      messages: [{ role: 'user', content }],
    });
  const active = trace.setSpan(context.active(), brokenSpan('0af7651916cd43dd8448eb211c80319c'));
  const answers = await context.with(active, () =>
    batchify(() => Promise.all([ask('one'), ask('two')]), stage.options()),
  );
  stop();
  expect(answers.map(({ choices }) => choices[0]?.message.content)).toEqual([
    expect.stringContaining('one'),
    expect.stringContaining('two'),
  ]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(uncaught).toEqual([]);
});
