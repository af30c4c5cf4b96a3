import { UnknownOutcomeError } from '../../base/errors.ts';
import { field, text } from '../../base/json.ts';

/**
 * What a reply has to hold to be believed, one function per kind. A 200 may be a proxy's page, an error
 * in an envelope of its own, or an empty object: such a reply proves nothing, so each function throws
 * `UnknownOutcomeError` for it. Fields that nobody here reads may be missing or new.
 */

/** One page of a list of batches. */
export interface ListPage {
  readonly batches: readonly unknown[];
  /** The id after which the next page begins. */
  readonly next: string | undefined;
}

export function listPage(body: unknown): ListPage {
  const batches = field(body, 'data');
  if (!Array.isArray(batches) || !batches.every((batch) => text(field(batch, 'id')))) {
    throw unknownShape('a list of batches', body);
  }
  if (field(body, 'has_more') !== true) return { batches, next: undefined };
  const next = text(field(batches.at(-1), 'id'));
  if (next === undefined) throw unknownShape('a list of batches', body);
  return { batches, next };
}

/** The id of a file that was stored, of a batch, or of whatever else was asked for. */
export function idOf(body: unknown, what: string): string {
  const id = text(field(body, 'id'));
  if (id === undefined) throw unknownShape(what, body);
  return id;
}

/** A batch as a create or a cancel answers it: an id of its own, and a word for its state. */
export function batchBody(body: unknown, status: string): unknown {
  if (!text(field(body, 'id')) || !text(field(body, status))) throw unknownShape('a batch', body);
  return body;
}

/** Tells the kind of value and no more: what is in it may be anything, a credential included. */
function unknownShape(what: string, body: unknown): UnknownOutcomeError {
  const kind = Array.isArray(body) ? 'array' : body === null ? 'null' : typeof body;
  return new UnknownOutcomeError(
    `The provider should have sent ${what}, but sent something else (JSON: ${kind}). That proves nothing.`,
  );
}
