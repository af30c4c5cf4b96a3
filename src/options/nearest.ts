/** The candidate that was probably meant: other case or separators, or a few typing errors away. */
export function nearest(given: string, candidates: readonly string[]): string | undefined {
  const wanted = plain(given);
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(wanted, plain(candidate));
    // A distance as long as the name itself means that nothing of it is left.
    if (distance < bestDistance && distance < candidate.length / 2) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

function plain(name: string): string {
  return name
    .slice(0, 64)
    .replace(/[-_\s]/g, '')
    .toLowerCase();
}

/** Insertions, deletions, replacements and swaps of neighbours. */
function editDistance(left: string, right: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const same = left[row - 1] === right[column - 1];
      let cost = Math.min(
        previous[column]! + 1,
        current[column - 1]! + 1,
        previous[column - 1]! + (same ? 0 : 1),
      );
      const swapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (row > 1 && column > 1 && swapped) cost = Math.min(cost, beforePrevious[column - 2]! + 1);
      current.push(cost);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[right.length]!;
}
