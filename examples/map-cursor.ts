// Pipes the rows of a database cursor through a model at half the price, and writes what it says back.
// Memory does not grow with the table; stopped and run again, it pays for nothing twice.
import { mapLines } from 'batchling';

/** Stands for `client.query(new Cursor(…))` of pg, or any other driver: rows come as they are read. */
async function* unsummarised() {
  for (let id = 1; id <= 3_000; id += 1)
    yield { id, text: `Note ${id}: the ferry was late again.` };
}

let saved = 0;
const options = {
  model: 'openai/gpt-5-mini',
  prompt: 'Summarise in five words: {{text}}',
  name: 'summaries of notes',
};
for await (const mapped of mapLines(unsummarised(), options)) {
  if ('error' in mapped) console.error(mapped.id, mapped.error.reason);
  else saved += 1; // UPDATE note SET summary = mapped.answer WHERE id = mapped.id
}
console.log(`${saved} summaries`);
