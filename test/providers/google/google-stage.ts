import { GoogleGenAI, type GoogleGenAIOptions } from '@google/genai';
import type { BatchifyOptions, Clock } from '../../../src/index.ts';
import { fastClock } from '../../support/programs/parts/fast-clock.ts';
import { openStage, type Stage } from '../../support/stage.ts';

/** A stage with a client of the Gemini API. */
export interface GoogleStage extends Stage {
  readonly base: string;
  google(given?: GoogleGenAIOptions): GoogleGenAI;
  /** Options that name the simulated provider, or what stands before it. */
  googleOptions(given?: BatchifyOptions, base?: string): BatchifyOptions;
}

export const apiKey = 'AIza-test-key-63b1f0';

export async function openGoogleStage(): Promise<GoogleStage> {
  const stage = await openStage();
  const base = stage.simulator.baseUrl('google');
  return {
    ...stage,
    base,
    google: (given) => new GoogleGenAI({ apiKey, httpOptions: { baseUrl: base }, ...given }),
    googleOptions: (given, at = base) => stage.options({ ...given, hosts: { [at]: 'google' } }),
  };
}

export async function askGemini(client: GoogleGenAI, contents: string): Promise<string> {
  const { text } = await client.models.generateContent({ model: 'gemini-test', contents });
  return text ?? '';
}

/** More prompts than fit into a create. */
export function manyPrompts(count = 25): string[] {
  return Array.from({ length: count }, (_, index) => `question ${index}`);
}

/** Waits between attempts are of no interest here. */
export function hurried(speed = 50): Clock {
  return fastClock({ epoch: Date.now(), speed });
}
