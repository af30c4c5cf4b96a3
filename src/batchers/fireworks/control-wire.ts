import { fields, parseJson, text } from '../../base/json.ts';
import type { Wire, WireReply } from '../../http/wire.ts';
import { wireAt } from '../../http/wire-at.ts';

/** The control plane stands beside the calls: `/v1`, next to `/inference/v1`. */
export function controlWire(wire: Wire): Wire {
  const control = wireAt(wire, wire.base.replace(/\/+$/, '').replace(/\/inference\/v1$/, '/v1'));
  return {
    ...control,
    async send(request) {
      const reply = await control.send(request);
      return reply.status < 400 ? reply : asOpenAI(reply);
    },
  };
}

/** Callers know the errors of calls, which are OpenAI's; those of the control plane are gRPC's. */
function asOpenAI(reply: WireReply): WireReply {
  return {
    status: reply.status,
    headers: reply.headers,
    bytes: () => reply.bytes(),
    json: () => reply.json(),
    discard: () => reply.discard(),
    async text() {
      const body = await reply.text();
      const { error, message, code = null } = fields(parseJson(body));
      const told = text(message);
      if (error !== undefined || told === undefined) return body;
      const type = reply.status < 500 ? 'invalid_request_error' : 'server_error';
      return JSON.stringify({ error: { message: told, type, param: null, code } });
    },
  };
}
