import { newId } from '../random.ts';

/** The requests of a stranger's batch, with custom ids that no client has. */
export function strangersRequests<Request>(
  size: number,
  request: (customId: string, question: string) => Request,
  name = newId('stranger-'),
): Request[] {
  return Array.from({ length: size }, (_, index) =>
    request(`${name}-${index}`, `a stranger's question ${index}`),
  );
}
