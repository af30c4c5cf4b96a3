import type { FaultAction } from '../../../src/simulator/index.ts';
import { wireOf } from '../../support/provider-wires.ts';
import type { Plot } from './history.ts';
import type { Provider } from './scene.ts';

const three = ['red', 'green', 'blue'];
/** The first question five times: five samples. */
const samples = ['red', 'red', 'green', 'red', 'red', 'red'];

/** Lists lag behind, and a stranger's batch of the same size comes with each of ours. */
const crowded = { listLag: 150, foreignBatches: true };
const status = (code: number, accept = false): FaultAction => ({
  kind: 'status',
  status: code,
  accept,
});

/** Every plot for every provider; the first one is the plain one. */
export function plotsOf(provider: Provider): Plot[] {
  const { upload, create, poll, results } = wireOf(provider);
  const plots: Omit<Plot, 'provider'>[] = [
    { name: 'a quiet provider', prompts: three },
    { name: 'a crowded account with lagging lists', prompts: three, settings: crowded },
    { name: 'samples', prompts: samples, settings: crowded },
    { name: 'several batches', prompts: ['a', 'b', 'c', 'd', 'e'], options: { batchSize: 2 } },
    {
      name: 'the answer to the create is lost',
      prompts: three,
      settings: crowded,
      faults: [{ ...create, action: { kind: 'lost' } }],
    },
    {
      name: 'a 500 that accepted',
      prompts: three,
      settings: crowded,
      faults: [{ ...create, action: status(500, true) }],
    },
    {
      name: 'a 504 that did not accept',
      prompts: three,
      settings: crowded,
      faults: [{ ...create, action: status(504) }],
    },
    {
      name: 'no room twice',
      prompts: three,
      settings: crowded,
      faults: [{ ...create, times: 2, action: status(429) }],
    },
    {
      name: 'broken polls, uploads and results',
      prompts: samples,
      faults: [
        ...(upload ? [{ ...upload, action: { kind: 'reset-mid-body' } as const }] : []),
        { ...poll, action: { kind: 'reset' } },
        { ...poll, action: status(502) },
        { ...results, action: { kind: 'truncate' } },
        { ...results, action: status(500) },
      ],
    },
  ];
  return plots.map((plot) => ({ ...plot, provider }));
}

/** The plot whose name starts so. */
export function plotNamed(provider: Provider, start: string): Plot {
  const plot = plotsOf(provider).find(({ name }) => name.startsWith(start));
  if (plot === undefined) throw new Error(`No plot starts with "${start}"`);
  return plot;
}
