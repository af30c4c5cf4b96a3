import type { SimulatedRequest } from '../model/answer-function.ts';

/**
 * What one answer has used, in one shape for all providers; each tells it in its own words.
 *
 * @example
 * ```ts
 * const thoughtful: Partial<SimulatedUsage> = { reasoning: 800, webSearches: 2 };
 * await startSimulator({ usage: thoughtful });
 * ```
 */
export interface SimulatedUsage {
  /** All input: what was cached, heard or read by tools is part of it. */
  input: number;
  /** Input that came out of the prompt cache. */
  cacheRead: number;
  /** Input that was written to the prompt cache for minutes. */
  cacheWrite: number;
  /** Input that was written to the prompt cache for an hour. */
  cacheWrite1h: number;
  audioInput: number;
  /** Gemini: input that the provider's own tools have added. */
  toolInput: number;
  /** All output: reasoning and speech are part of it. */
  output: number;
  reasoning: number;
  audioOutput: number;
  webSearches: number;
  /** Anthropic: where it was computed. */
  inferenceGeo: string | null;
  /** xAI: what was billed, in ten-billionths of a dollar; null: it is not told. */
  billedTicks: number | null;
}

/**
 * Decides what an answer has used; undefined for what the simulator counts itself.
 *
 * @example
 * ```ts
 * const usage: UsageFunction = ({ model }) => (model.startsWith('o') ? { reasoning: 500 } : undefined);
 * await startSimulator({ usage });
 * ```
 */
export type UsageFunction = (request: SimulatedRequest) => Partial<SimulatedUsage> | undefined;

export const noUsage: SimulatedUsage = {
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  audioInput: 0,
  toolInput: 0,
  output: 0,
  reasoning: 0,
  audioOutput: 0,
  webSearches: 0,
  inferenceGeo: null,
  billedTicks: null,
};

/** What was counted, changed by what was asked for. A kind that is asked for alone adds to its sum. */
export function usageOf(
  counted: Partial<SimulatedUsage>,
  asked: Partial<SimulatedUsage> = {},
): SimulatedUsage {
  const all = { ...noUsage, ...counted, ...asked };
  const { cacheRead, cacheWrite, cacheWrite1h, audioInput, toolInput } = all;
  const { reasoning, audioOutput } = all;
  const input = asked.input ?? all.input + audioInput + toolInput;
  const output = asked.output ?? all.output + reasoning + audioOutput;
  return {
    ...all,
    input: Math.max(input, cacheRead + cacheWrite + cacheWrite1h),
    output: Math.max(output, reasoning + audioOutput),
  };
}

const marker = /\[\[usage((?: [a-zA-Z0-9]+=[a-z0-9]+)+)\]\]/;

/** What a prompt asks for: `[[usage reasoning=300 webSearches=2]]`. Words that are no kind are left out. */
export function usageInPrompt(prompt: string): Partial<SimulatedUsage> {
  const [, given = ''] = marker.exec(prompt) ?? [];
  const pairs = given.split(' ').map((pair) => pair.split('=') as [string, string]);
  const read = pairs.map(([name, value]) => [
    name,
    name === 'inferenceGeo' ? value : Number(value),
  ]) as [string, unknown][];
  return Object.fromEntries(read.filter(([name, value]) => isKind(name, value)));
}

/** Throws for a setting that is no usage. */
export function checkUsage(usage: object): void {
  for (const [name, value] of Object.entries(usage)) {
    if (isKind(name, value)) continue;
    throw new TypeError(`Simulator setting 'usage.${name}' cannot be ${JSON.stringify(value)}`);
  }
}

function isKind(name: string, value: unknown): boolean {
  if (!(name in noUsage)) return false;
  if (name === 'inferenceGeo') return value === null || typeof value === 'string';
  if (name === 'billedTicks' && value === null) return true;
  return typeof value === 'number' && value >= 0;
}
