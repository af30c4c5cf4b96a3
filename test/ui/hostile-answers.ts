/** Answers that a hostile model may write to break whatever reads them. */

const depth = 20_000;

function callingWith(given: unknown): string {
  const calls = [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: given } }];
  return JSON.stringify({ choices: [{ message: { role: 'assistant', tool_calls: calls } }] });
}

/** Lists in lists, deeper than functions can call each other. */
export const hostileDepth = callingWith('['.repeat(depth) + ']'.repeat(depth));

/** The same outside of a text that holds JSON. */
export const hostileContent = `{"choices":[{"message":{"content":[${'{"type":"tool_result","content":'.repeat(
  depth,
)}1${'}'.repeat(depth)}]}}]}`;

/** An error in an error in an error. */
export const hostileError = `${'{"error":'.repeat(depth)}1${'}'.repeat(depth)}`;

/** A list of lists: millions of nodes, if a page made them all. */
const list = JSON.stringify(Array.from({ length: 200 }, () => 1));
export const hostileWidth = callingWith(
  `[[${Array.from({ length: 200 }, () => `[${Array.from({ length: 20 }, () => list).join()}]`).join()}]]`,
);

/** A value that no language can make a text of. */
export const hostileRole = JSON.stringify({
  choices: [{ message: { role: { toString: 1, valueOf: 1 }, content: 'Hostile: role' } }],
});
