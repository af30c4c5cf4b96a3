import { wiredProviders } from '../support/provider-wires.ts';
import { accountFaults } from './account.ts';
import { createFaults } from './create.ts';
import { deadlineFaults } from './deadline.ts';
import { both, type FaultCase, type Provider } from './fault-case.ts';
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

/** Those with a way of their own to find a batch again, or to be asked for it. */
const otherWires: readonly Provider[] = wiredProviders.filter((name) => !both.includes(name));

/** The provider of the table whose wire is nearest: does a create echo something of ours? */
const nearest = (name: Provider): Provider => (name === 'sference' ? 'anthropic' : 'openai');

/** What finding a batch again depends on is played with every wire. */
function onEveryWire(faults: readonly FaultCase[]): readonly FaultCase[] {
  return faults.map((fault) => {
    const fates = 'outcome' in fault.fates ? [fault.fates] : fault.fates;
    // Errors have a type in OpenAI's shape only.
    const isAnswered = fates.every(({ outcome }) => outcome === 'its answer');
    if (!isAnswered) return fault;
    const more = otherWires.filter(
      (name) => fault.providers.includes(nearest(name)) && !fault.notFor?.includes(name),
    );
    return { ...fault, providers: [...fault.providers, ...more] };
  });
}

/** All of them, in the order a batch meets them; each pair of fault and provider once. */
export const faultCases: readonly FaultCase[] = [
  ...uploadFaults,
  ...onEveryWire(createFaults),
  ...accountFaults,
  ...onEveryWire(unclearCreateFaults),
  ...unknownShapes,
  ...onEveryWire(pollFaults),
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
