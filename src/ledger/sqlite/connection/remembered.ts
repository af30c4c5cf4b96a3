/** The same function, which runs once for each id: for reads within one transaction. */
export function remembered<T>(work: (id: number) => T): (id: number) => T {
  const known = new Map<number, T>();
  return (id) => {
    if (!known.has(id)) known.set(id, work(id));
    return known.get(id) as T;
  };
}
