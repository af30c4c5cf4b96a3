import { diag } from '@opentelemetry/api';
import { messageOf } from '../base/errors.ts';

/**
 * Does something with spans or instruments of the program's. What they throw goes to OpenTelemetry's own log: a caller
 * would never get its answer, and a listener of a channel would end the process.
 */
export function quietly(work: () => void): void {
  try {
    work();
  } catch (error) {
    diag.error(`batchling/otel: ${messageOf(error)}`);
  }
}
