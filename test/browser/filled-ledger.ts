import { createHash } from 'node:crypto';
import type { Answer, Dict } from '../../src/base/types.ts';
import type { Cost, Ledger, OwnerId, QueueId, RequestId } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { hostileDepth, hostileRole, hostileWidth } from '../ui/hostile-answers.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

export const hostileScript = '<script>window.wasRun = true</script>';
export const hostileImage = '<img src="https://evil.example/x.png" onerror="window.wasRun = true">';
export const hostileDirection = 'paid \u202e000,1$ \u202c to you';
export const megabyte = `begin ${'abcdefgh'.repeat(131_072)} end`;

export interface Filled {
  readonly ledger: Ledger;
  readonly me: OwnerId;
  readonly conversation: RequestId;
  readonly sampled: RequestId;
  readonly hostile: readonly RequestId[];
  readonly cancelled: string;
  readonly running: string;
  /** One more batch that ends now. */
  addBatch(name: string): Promise<string>;
}

interface Planned {
  readonly name?: string;
  readonly tags?: Dict;
  readonly questions: readonly string[];
  readonly estimate: number;
  /** How long ago it was planned, accepted and ended. */
  readonly made: number;
  readonly took?: number;
  readonly answer?: (index: number) => Answer;
  readonly cost?: Cost;
  readonly owner?: OwnerId;
}

/** A ledger as it is after two weeks of work, with programs that run. Everything in it went through the ledger's own methods. */
export async function fillLedger(store: string): Promise<Filled> {
  const clock = { back: 0, now: () => Date.now() - clock.back };
  const ledger = await openLedger(store, { clock, keep: 'all' });
  const me = await ledger.join({ run: 'nightly-2026-11-18', host: 'build-7', pid: process.pid });
  const gone = await ledger.join({ run: 'a program that was killed', host: 'build-7', pid: 1 });
  const queues = {
    mini: await queueOf(
      ledger,
      'openai',
      'https://api.openai.com/v1',
      '/v1/chat/completions',
      'gpt-5-mini',
    ),
    sonnet: await queueOf(
      ledger,
      'anthropic',
      'https://api.anthropic.com',
      '/v1/messages',
      'claude-sonnet-4-5',
    ),
    flash: await queueOf(
      ledger,
      'google',
      'https://generativelanguage.googleapis.com',
      '/v1beta/models',
      'gemini-3-flash',
    ),
    llama: await queueOf(
      ledger,
      'groq',
      'https://api.groq.com/openai/v1',
      '/v1/chat/completions',
      'llama-4-scout',
    ),
  };
  let batches = 0;

  const ask = async (queue: QueueId, question: string, occurrence = 0, owner = me) => {
    const fingerprint = createHash('sha256').update(`${queue} ${question}`).digest();
    const ask = { fingerprint, occurrence, queue, cache: true };
    const [admission] = await ledger.admit(owner, [ask]);
    const request = (admission as { request: RequestId }).request;
    await ledger.spool([{ request, body: question }]);
    return request;
  };

  const plan = async (queue: QueueId, given: Planned, requests?: readonly RequestId[]) => {
    const { name, tags = {}, questions, estimate, made, took, answer, cost, owner = me } = given;
    clock.back = made;
    const members =
      requests ?? (await Promise.all(questions.map((text) => ask(queue, text, 0, owner))));
    batches += 1;
    const token = `bl_${createHash('sha256').update(String(batches)).digest('hex').slice(0, 16)}`;
    const batch = { token, queue, tags, estimate, ...(name && { name }) };
    const lease = await ledger.plan(owner, batch, members);
    await ledger.creating(lease, {}, { alone: false });
    clock.back = Math.max(0, made - 4_000);
    const id = `batch_${token.slice(3)}`;
    await ledger.accepted(lease, { id, raw: 'in_progress' });
    if (took !== undefined) {
      clock.back = Math.max(0, made - took);
      const settled = members.map((request, index) => ({
        request,
        is: 'answer' as const,
        answer: answer?.(index) ?? chatAnswer('Positive.'),
        ...(cost && { cost }),
      }));
      await ledger.collected(lease, settled);
      await ledger.ended(lease);
    }
    clock.back = 0;
    return { token, lease, members, id };
  };

  const cheap = { inputTokens: 900, outputTokens: 120, paid: 0.0021, saved: 0.0021 };
  const dear = { inputTokens: 2_400, outputTokens: 700, paid: 0.0089, saved: 0.0089 };
  const night = async (back: number) => {
    const made = back * day + 6 * hour;
    await plan(queues.mini, {
      name: 'nightly-eval',
      tags: { team: 'search', dataset: 'v7' },
      questions: Array.from({ length: 24 }, (_, n) =>
        chatBody(`Is review ${back}-${n} positive? "It did what it should."`),
      ),
      ...{ estimate: 0.055, made, took: (18 + back) * minute, cost: cheap },
    });
    if (back % 3 === 0) {
      await plan(queues.sonnet, {
        name: 'summaries',
        tags: { team: 'support' },
        questions: Array.from({ length: 12 }, (_, n) =>
          messageBody(`Summarise ticket ${back}${n}.`),
        ),
        answer: () => messageAnswer('The customer asks for a refund of the second order.'),
        ...{ estimate: 0.1, made: made - 2 * hour, took: 95 * minute, cost: dear },
      });
    }
  };
  // In the order of their times, so that ids grow with them.
  for (let back = 13; back >= 2; back -= 1) await night(back);

  // What failed, and how.
  const tooLong = error(
    400,
    "This model's maximum context length is 128000 tokens, however you requested 131072 tokens.",
    'invalid_request_error',
  );
  await plan(queues.mini, {
    name: 'long-documents',
    tags: { team: 'legal' },
    questions: Array.from({ length: 9 }, (_, n) =>
      chatBody(`Which clauses of contract ${n} are unusual?`),
    ),
    answer: (index) => (index < 6 ? tooLong : chatAnswer('Clause 14 has no limit of liability.')),
    ...{ estimate: 0.4, made: 2 * day, took: 31 * minute, cost: dear },
  });
  await night(1);
  await plan(queues.flash, {
    questions: ['one', 'two', 'three'].map((text) => geminiBody(`Describe picture ${text}.`)),
    answer: () =>
      error(429, 'Resource has been exhausted (e.g. check quota).', 'RESOURCE_EXHAUSTED'),
    ...{ estimate: 0.02, made: 29 * hour, took: 44 * minute },
  });
  // What is slower than usual.
  const mark = (id: string, completed: number, failed: number, total: number) => ({
    id,
    raw: 'in_progress',
    counts: { total, completed, failed },
  });
  const slow = await plan(queues.sonnet, {
    name: 'summaries',
    tags: { team: 'support' },
    questions: Array.from({ length: 12 }, (_, n) => messageBody(`Summarise ticket 0${n}.`)),
    ...{ estimate: 0.1, made: 7 * hour },
  });
  await ledger.polled([{ lease: slow.lease, remote: mark(slow.id, 3, 0, 12) }]);

  clock.back = 5 * hour;
  const refusedRow = await ask(queues.llama, chatBody('Translate "Guten Tag".'));
  const refused = await ledger.plan(
    me,
    { token: 'bl_4f1d09a7c2e3b586', queue: queues.llama, tags: {}, estimate: 0.01 },
    [refusedRow],
  );
  await ledger.creating(refused, {}, { alone: false });
  await ledger.refused(refused, 'The model `llama-4-scout` is not available for batches.');
  await ledger.withdraw(me, [refusedRow]);
  clock.back = 0;

  // A conversation with everything in it, samples, and what a hostile model may write.
  const talk = await plan(queues.mini, {
    name: 'playground',
    questions: [
      conversationBody,
      chatBody('Write a haiku about queues.'),
      ...['script', 'image', 'direction', 'megabyte', 'depth', 'width', 'role'].map((one) =>
        chatBody(`Hostile: ${one}`),
      ),
    ],
    answer: (index) =>
      [
        chatAnswer(
          '{"verdict":"positive","score":0.93,"reasons":["It arrived early.","It is quiet."]}',
        ),
        chatAnswer('Lines that barely move,\nmorning fills the waiting room:\none name at a time.'),
        ...[hostileScript, hostileImage, hostileDirection, megabyte].map(chatAnswer),
        ...[hostileDepth, hostileWidth, hostileRole].map(jsonAnswer),
      ][index] as Answer,
    ...{ estimate: 0.02, made: 3 * hour, took: 26 * minute, cost: cheap },
  });
  const haiku = chatBody('Write a haiku about queues.');
  const again = [await ask(queues.mini, haiku, 1), await ask(queues.mini, haiku, 2)];
  await plan(
    queues.mini,
    {
      name: 'playground',
      questions: [],
      answer: (index) =>
        chatAnswer(
          [
            'A line of small lights,\neach waits for the one before.\nThe last is not least.',
            'Half price, half the haste:\nby the time the kettle sings\nall of them are home.',
          ][index] as string,
        ),
      ...{ estimate: 0.01, made: 2 * hour, took: 22 * minute, cost: cheap },
    },
    again,
  );

  // What runs now.
  const cancelled = await plan(queues.flash, {
    name: 'alt-texts',
    questions: Array.from({ length: 40 }, (_, n) => geminiBody(`Describe picture ${n}.`)),
    ...{ estimate: 0.14, made: 50 * minute, owner: gone },
  });
  await ledger.polled([{ lease: cancelled.lease, remote: mark(cancelled.id, 12, 0, 40) }]);
  const running = await plan(queues.mini, {
    name: 'nightly-eval',
    tags: { team: 'search', dataset: 'v7' },
    questions: Array.from({ length: 400 }, (_, n) => chatBody(`Is review 0-${n} positive?`)),
    ...{ estimate: 0.92, made: 11 * minute },
  });
  await ledger.polled([{ lease: running.lease, remote: mark(running.id, 262, 5, 400) }]);
  clock.back = 25 * minute;
  await Promise.all(
    Array.from({ length: 6 }, (_, n) => ask(queues.sonnet, messageBody(`Summarise letter ${n}.`))),
  );
  clock.back = 2 * minute;
  await Promise.all(
    Array.from({ length: 85 }, (_, n) => ask(queues.mini, chatBody(`Is review 1-${n} positive?`))),
  );
  await Promise.all(
    Array.from({ length: 4 }, (_, n) => ask(queues.flash, geminiBody(`Left over ${n}`), 0, gone)),
  );
  clock.back = 0;
  await ledger.leave(gone, { finished: false });

  return {
    ledger,
    me,
    conversation: talk.members[0] as RequestId,
    sampled: talk.members[1] as RequestId,
    hostile: talk.members.slice(2),
    cancelled: cancelled.token,
    running: running.token,
    async addBatch(name) {
      const done = {
        name,
        questions: [chatBody(`What is ${name}?`)],
        estimate: 0.01,
        made: 1_000,
        took: 900,
      };
      return (await plan(queues.mini, { ...done, cost: cheap })).token;
    },
  };
}

async function queueOf(
  ledger: Ledger,
  provider: string,
  base: string,
  endpoint: string,
  model: string,
) {
  const hash = createHash('sha256').update(provider).digest();
  const account = await ledger.account({ provider, hash });
  return ledger.queue({ account, provider, base, endpoint, model, batchHeaders: {} });
}

function chatBody(content: string): string {
  return JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content }] });
}

function messageBody(content: string): string {
  return JSON.stringify({
    model: 'claude-sonnet-4-5',
    max_tokens: 1_000,
    messages: [{ role: 'user', content }],
  });
}

function geminiBody(text: string): string {
  return JSON.stringify({ contents: [{ role: 'user', parts: [{ text }] }] });
}

const conversationBody = JSON.stringify({
  model: 'gpt-5-mini',
  messages: [
    { role: 'system', content: 'You rate reviews. Answer in JSON.' },
    {
      role: 'user',
      content: [
        {
          type: 'text',
          text: 'Is the customer in this screenshot happy? Look up the order first.',
        },
        {
          type: 'image_url',
          image_url: { url: `data:image/png;base64,${'iVBORw0KGgo='.repeat(3_800)}` },
        },
      ],
    },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        {
          id: 'call_1',
          type: 'function',
          function: { name: 'find_order', arguments: '{"order":"A-1193","with_items":true}' },
        },
      ],
    },
    { role: 'tool', tool_call_id: 'call_1', content: '{"status":"delivered","days":2}' },
  ],
  tools: [
    {
      type: 'function',
      function: {
        name: 'find_order',
        description: 'Finds an order by its number.',
        parameters: {
          type: 'object',
          properties: { order: { type: 'string' } },
          required: ['order'],
        },
      },
    },
  ],
  temperature: 0.2,
  response_format: { type: 'json_object' },
});

function jsonAnswer(body: string): Answer {
  return { status: 200, headers: { 'content-type': 'application/json' }, body };
}

function chatAnswer(content: string): Answer {
  const body = {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    model: 'gpt-5-mini',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 900, completion_tokens: 120, total_tokens: 1_020 },
  };
  return {
    status: 200,
    headers: { 'content-type': 'application/json', 'x-request-id': 'req_19f2' },
    body: JSON.stringify(body),
  };
}

function messageAnswer(text: string): Answer {
  const body = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    content: [{ type: 'text', text }],
    usage: { input_tokens: 2_400, output_tokens: 700 },
  };
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
}

function error(status: number, message: string, type: string): Answer {
  return {
    status,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ error: { message, type } }),
  };
}
