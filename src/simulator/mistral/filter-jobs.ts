import type { JsonObject } from '../server/json.ts';
import { isObject } from '../server/json.ts';
import { invalid } from './errors.ts';

const paging = ['page', 'page_size', 'order_by', 'created_by_me', 'agent_id'];

/** The jobs that a list is asked for, in the order that it is asked for. */
export function filterJobs(jobs: readonly JsonObject[], query: URLSearchParams): JsonObject[] {
  const kept = jobs.filter((job) => [...query].every(([name, value]) => fits(job, name, value)));
  const statuses = query.getAll('status');
  const wanted = kept.filter(
    ({ status }) => statuses.length === 0 || statuses.includes(String(status)),
  );
  const order = query.get('order_by') ?? '-created';
  if (order !== 'created' && order !== '-created') {
    throw invalid('order_by', "Input should be 'created' or '-created'");
  }
  return order === 'created' ? wanted.reverse() : wanted;
}

/** A parameter that is none of the API's own is a key of the metadata. */
function fits(job: JsonObject, name: string, value: string): boolean {
  if (paging.includes(name) || name === 'status') return true;
  if (name === 'model') return job.model === value;
  if (name === 'created_after') return Number(job.created_at) * 1000 >= Date.parse(value);
  return isObject(job.metadata) && job.metadata[name] === value;
}
