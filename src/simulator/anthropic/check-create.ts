import { Refusal } from '../server/exchange.ts';
import { isObject, type JsonObject } from '../server/json.ts';
import type { BatchLine } from '../world/batches/batch.ts';
import { lastUserText } from '../world/model/prompt.ts';

const customIdPattern = /^[a-zA-Z0-9_-]{1,64}$/;

/** Only the envelope is checked when a batch is created; each item's params are judged later. */
export function checkCreate(body: JsonObject, mostRequests: number): BatchLine[] {
  const { requests, ...others } = body;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw refused(`${unknown}: Extra inputs are not permitted`);
  if (requests === undefined) throw refused('requests: Field required');
  if (!Array.isArray(requests)) throw refused('requests: Input should be a valid list');
  if (requests.length === 0) throw refused('requests: List should have at least 1 item');
  if (requests.length > mostRequests) {
    throw refused(`requests: List should have at most ${mostRequests} items`);
  }
  const seen = new Set<string>();
  return requests.map((item, index) => {
    const at = `requests.${index}`;
    if (!isObject(item)) throw refused(`${at}: Input should be an object`);
    const { custom_id: customId, params, ...more } = item;
    const [extra] = Object.keys(more);
    if (extra !== undefined) throw refused(`${at}.${extra}: Extra inputs are not permitted`);
    if (typeof customId !== 'string') throw refused(`${at}.custom_id: Field required`);
    if (!customIdPattern.test(customId)) {
      const pattern = customIdPattern.source;
      throw refused(`${at}.custom_id: String should match pattern '${pattern}'`);
    }
    if (seen.has(customId)) throw refused(`${at}.custom_id: '${customId}' is not unique`);
    if (!isObject(params)) throw refused(`${at}.params: Field required`);
    if (lastUserText(params.messages).includes('[[invalid]]')) {
      throw refused(`${at}.params: This request is marked as invalid`);
    }
    seen.add(customId);
    return { customId, endpoint: '/v1/messages', body: params };
  });
}

function refused(message: string): Refusal {
  return new Refusal(400, message);
}
