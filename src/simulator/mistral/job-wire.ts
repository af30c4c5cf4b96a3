import type { Files } from '../openai-like/files/files.ts';
import { toChunks } from '../server/lines.ts';
import type { Batch } from '../world/batches/batch.ts';
import type { BatchWire } from '../world/batches/batch-wire.ts';
import type { World } from '../world/world.ts';
import type { MistralJob } from './details.ts';
import { batchDialect } from './dialect.ts';
import { readJobLines } from './read-lines.ts';
import { resultLine } from './result-line.ts';

/** How long results can be downloaded, in seconds: the shorter of two documented times. */
const resultsLifetime = 24 * 3600;
/** Stands for a request that has no line. */
const noLine = '';

export function createWire(world: World, files: Files): BatchWire<MistralJob> {
  return {
    failsAsWhole: true,
    dialect: () => batchDialect,

    async prepare({ details }) {
      const lines = await readJobLines(world, details);
      details.input = [];
      return lines;
    },

    resultLine({ details: { failures } }, customId, outcome) {
      if (outcome.kind === 'refused') {
        failures.set(outcome.message, (failures.get(outcome.message) ?? 0) + 1);
      }
      const line = resultLine(customId, outcome);
      return line === null ? noLine : JSON.stringify(line);
    },

    async publish(batch) {
      const { failedLinesInOutput, zeroByteErrorFile } = world.settings;
      const { answered, failed } = batch.results;
      const errors = failed.filter((line) => line !== noLine);
      const write = async (name: string, lines: string[]) =>
        files.add(resultFile(world, batch, name, await toChunks(lines, world.clock))).id;
      const output = failedLinesInOutput ? [...answered, ...errors] : answered;
      if (output.length > 0) batch.details.outputFile = await write('output', output);
      const inFile = failedLinesInOutput ? [] : errors;
      if (inFile.length > 0 || zeroByteErrorFile) {
        batch.details.errorFile = await write('error', inFile);
      }
    },
  };
}

function resultFile(world: World, { account, id, script }: Batch, name: string, chunks: Buffer[]) {
  return {
    account,
    filename: `${id}_${name}.jsonl`,
    purpose: 'batch_output',
    chunks,
    lifetime: resultsLifetime,
    readsNotFound: script.resultsNotFoundReads ?? world.settings.resultsNotFoundReads,
  };
}
