/** Noise only ever adds: the least of each number is the one nearest to the truth. */
export function least(costs) {
  const smallest = { ...costs[0] };
  for (const cost of costs) {
    for (const name in cost) smallest[name] = Math.min(smallest[name], cost[name]);
  }
  return smallest;
}
