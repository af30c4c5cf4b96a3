/** The candidate that was probably meant: it differs in case, separators or a few typing errors. */
export function nearest(given: string, candidates: readonly string[]): string | undefined {
  const wanted = plain(given);
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(wanted, plain(candidate));
    // A name of which half is changed is not recognisable.
    if (distance < bestDistance && distance <= candidate.length / 2) {
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

/** Insertions, deletions and replacements. */
function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (const [row, letter] of [...left].entries()) {
    const current = [row + 1];
    for (let column = 1; column <= right.length; column += 1) {
      const cost = letter === right[column - 1] ? 0 : 1;
      current.push(
        Math.min(previous[column]! + 1, current[column - 1]! + 1, previous[column - 1]! + cost),
      );
    }
    previous = current;
  }
  return previous[right.length]!;
}
