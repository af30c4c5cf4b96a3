import { accountFaults } from './account.ts';
import { createFaults } from './create.ts';
import { deadlineFaults } from './deadline.ts';
import type { FaultCase } from './fault-case.ts';
import { limitFaults } from './limits.ts';
import { lineFaults } from './lines.ts';
import { networkFaults } from './network.ts';
import { otherReadings } from './other-readings.ts';
import { pollFaults } from './poll.ts';
import { resultFileFaults } from './result-files.ts';
import { timeFaults } from './time.ts';
import { transportFaults } from './transport.ts';
import { unclearCreateFaults } from './unclear-create.ts';
import { unknownShapes } from './unknown-shapes.ts';
import { unreadableResults } from './unreadable-results.ts';
import { uploadFaults } from './upload.ts';
import { wholeBatchFaults } from './whole-batch.ts';
import { wireFaults } from './wire.ts';

/** All of them, in the order a batch meets them; each pair of fault and provider once. */
export const faultCases: readonly FaultCase[] = [
  ...uploadFaults,
  ...createFaults,
  ...accountFaults,
  ...unclearCreateFaults,
  ...unknownShapes,
  ...pollFaults,
  ...wholeBatchFaults,
  ...deadlineFaults,
  ...resultFileFaults,
  ...unreadableResults,
  ...lineFaults,
  ...limitFaults,
  ...timeFaults,
  ...networkFaults,
  ...transportFaults,
  ...wireFaults,
  ...otherReadings,
];
