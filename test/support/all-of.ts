/** Everything that a stream tells, in its order. */
export async function allOf<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const told: T[] = [];
  for await (const one of stream) told.push(one);
  return told;
}
