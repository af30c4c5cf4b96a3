/** One call that batchling captures, in a process that may read next to nothing. */
const response = await fetch('https://api.openai.com/v1/chat/completions', {
  method: 'POST',
  headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
  body: JSON.stringify({ model: 'gpt-test', messages: [] }),
});
const { error } = (await response.json()) as { error: { type: string } };
console.log(response.status, error.type);
