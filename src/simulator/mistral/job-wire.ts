import { createWire as createOpenAIWire } from '../openai-like/batches/batch-wire.ts';
import type { Files } from '../openai-like/files/files.ts';
import type { BatchStore } from '../world/batches/batch.ts';
import type { BatchWire } from '../world/batches/batch-wire.ts';
import type { World } from '../world/world.ts';
import { mistralDescription } from './description.ts';
import type { MistralJob } from './details.ts';
import { batchDialect } from './dialect.ts';
import { readJobLines } from './read-lines.ts';

export function createWire(
  world: World,
  files: Files,
  store: BatchStore<MistralJob>,
): BatchWire<MistralJob> {
  const openai = createOpenAIWire(world, mistralDescription, files, store);
  return {
    failsAsWhole: true,
    dialect: () => batchDialect,

    async prepare({ details }) {
      const lines = await readJobLines(world, details);
      details.input = [];
      return lines;
    },

    resultLine(batch, customId, outcome) {
      const { failures } = batch.details;
      if (outcome.kind === 'refused') {
        failures.set(outcome.message, (failures.get(outcome.message) ?? 0) + 1);
      }
      return openai.resultLine(batch, customId, outcome);
    },

    publish: openai.publish,
  };
}
