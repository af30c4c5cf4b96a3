import { vectorOf } from '../../src/simulator/openai-like/answers/embeddings.ts';

/** Whether the text is a vector that the simulator makes of this input. */
export function isVectorOf(input: string, text: string): boolean {
  const values = /^vector (.+)$/.exec(text)?.[1]?.split(',').map(Number);
  if (values === undefined) return false;
  const expected = vectorOf(input, values.length, 0);
  // Vectors of the same input differ from execution to execution, by less than this.
  return expected.every((value, at) => Math.abs(value - (values[at] as number)) < 0.01);
}
