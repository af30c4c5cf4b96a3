/** A line of cells, quoted by the rules of RFC 4180. Texts that a spreadsheet would run as a formula get an apostrophe. */
export function csvLine(cells: readonly (string | number)[]): string {
  const texts = cells.map((cell) => (typeof cell === 'number' ? String(cell) : noFormula(cell)));
  return `${texts.map(quoted).join(',')}\r\n`;
}

/** Names and tags are written by whoever calls, and the file is opened by somebody else. */
function noFormula(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

function quoted(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
