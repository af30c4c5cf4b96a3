import type { BatchFailure } from '../batcher.ts';

/** A fresh file is known everywhere at the provider after a second or so; this leaves room. */
const longest = 60_000;

/**
 * "No such File object: file-…": a create that comes right after its upload may be too early. Nothing was
 * accepted, so it is tried again for a minute. A file that is still unknown then is gone.
 */
export function waitForFile(failure: BatchFailure): BatchFailure {
  const { answer, message } = failure;
  const isUnknown = answer?.status === 404 || answer?.status === 400;
  if (!isUnknown || !/\bno such file\b|\bfile\b.*\bnot found\b/i.test(message)) return failure;
  return { ...failure, next: 'later', within: longest };
}
