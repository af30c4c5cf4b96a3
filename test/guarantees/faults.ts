import { wiredProviders } from '../support/provider-wires.ts';
import { both, type FaultCase, type Provider } from './fault-case.ts';
import { accountFaults } from './faults/account.ts';
import { createFaults } from './faults/create.ts';
import { deadlineFaults } from './faults/deadline.ts';
import { laneFaults } from './faults/lanes.ts';
import { limitFaults } from './faults/limits.ts';
import { lineFaults } from './faults/lines.ts';
import { networkFaults } from './faults/network.ts';
import { otherReadings } from './faults/other-readings.ts';
import { pollFaults } from './faults/poll.ts';
import { resultFileFaults } from './faults/result-files.ts';
import { timeFaults } from './faults/time.ts';
import { transportFaults } from './faults/transport.ts';
import { unclearCreateFaults } from './faults/unclear-create.ts';
import { unknownShapes } from './faults/unknown-shapes.ts';
import { unreadableResults } from './faults/unreadable-results.ts';
import { uploadFaults } from './faults/upload.ts';
import { wholeBatchFaults } from './faults/whole-batch.ts';
import { wireFaults } from './faults/wire.ts';

/** Those with a way of their own to find a batch again, or to be asked for it. */
const otherWires: readonly Provider[] = wiredProviders.filter((name) => !both.includes(name));

/** The provider of the table whose wire is nearest: does a create echo something of ours? */
const nearest = (name: Provider): Provider =>
  name === 'sference' || name === 'openrouter' ? 'anthropic' : 'openai';

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
  ...laneFaults,
];
