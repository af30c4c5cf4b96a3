import type { FaultRule } from '../faults/faults.ts';
import type { BatchScript } from '../world/batches/batch-script.ts';
import { changeSettings } from '../world/change-settings.ts';
import {
  addForeignBatch,
  type ForeignBatch,
  type SimulatorState,
  summariseBatches,
} from '../world/state.ts';
import { jsonReply, type Reply, readBytes } from './exchange.ts';
import { isObject, type JsonObject } from './json.ts';

export const controlPrefix = '/__simulator';

type Control = (state: SimulatorState, body: JsonObject, query: URLSearchParams) => unknown;

const controls: Record<string, Control> = {
  'GET /': (state) => ({
    providers: Object.keys(state.providers),
    controls: Object.keys(controls),
  }),
  'GET /meter': (state, _body, query) => readMeter(state, query.has('executions')),
  'GET /requests': (state) => ({ requests: state.log.entries }),
  'GET /batches': (state) => ({ batches: summariseBatches(state) }),
  'GET /settings': (state) => state.world.settings,
  'POST /settings': (state, body) => {
    changeSettings(state.world.settings, body);
    return state.world.settings;
  },
  'POST /speed': (state, body) => {
    changeSettings(state.world.settings, { speed: body });
    return state.world.settings;
  },
  'POST /faults': (state, body) => {
    state.world.faults.add(toFaultRule(body));
  },
  'DELETE /faults': (state) => state.world.faults.clear(),
  'POST /next-batch': (state, body) => state.world.faults.nextBatch(body as BatchScript),
  'POST /hold': (state) => state.world.gate.hold(),
  'POST /release': (state) => state.world.gate.release(),
  'POST /reset': (state) => state.reset(),
  'POST /foreign-batch': (state, body) => ({
    id: addForeignBatch(state, toForeignBatch(state, body)),
  }),
};

/** The same abilities for other processes; JSON in, JSON out. */
export async function answerControl(
  state: SimulatorState,
  method: string,
  url: URL,
  body: AsyncIterable<Buffer>,
): Promise<Reply> {
  const path = url.pathname.slice(controlPrefix.length) || '/';
  const control = controls[`${method} ${path}`];
  if (control === undefined) {
    return jsonReply({ error: `The simulator has no control ${method} ${path}` }, 404);
  }
  try {
    const text = (await readBytes(body)).toString('utf8');
    const value: unknown = text === '' ? {} : JSON.parse(text);
    if (!isObject(value)) throw new TypeError('The body must be a JSON object');
    return jsonReply(control(state, value, url.searchParams) ?? { done: true });
  } catch (error) {
    return jsonReply({ error: error instanceof Error ? error.message : String(error) }, 400);
  }
}

function readMeter({ world: { meter } }: SimulatorState, withExecutions: boolean): unknown {
  const summary = { ...meter.summary(), byCustomId: Object.fromEntries(meter.countByCustomId()) };
  if (!withExecutions) return summary;
  const { executions, failures, refusals } = meter;
  return { ...summary, executions, failures, refusals };
}

const kinds = new Set([
  'status',
  'reset',
  'reset-mid-body',
  'lost',
  'late',
  'hang',
  'delay',
  'truncate',
  'chunked',
  'closing',
  'trickle',
  'refuse-mid-body',
  'garbage',
  'encoded',
]);

function toFaultRule(body: JsonObject): FaultRule {
  const { action, path } = body;
  if (!isObject(action) || typeof action.kind !== 'string' || !kinds.has(action.kind)) {
    throw new TypeError(`action.kind must be one of ${[...kinds].join(', ')}`);
  }
  const rule = { ...body } as unknown as FaultRule;
  return path === undefined ? rule : { ...rule, path: new RegExp(String(path)) };
}

function toForeignBatch(state: SimulatorState, body: JsonObject): ForeignBatch {
  const { provider, size } = body;
  if (typeof provider !== 'string' || !(provider in state.providers)) {
    throw new TypeError(`provider must be one of ${Object.keys(state.providers).join(', ')}`);
  }
  if (typeof size !== 'number') throw new TypeError(`size must be a number: ${size}`);
  return body as unknown as ForeignBatch;
}
