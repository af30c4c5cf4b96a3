// A program with listeners of its own for its end. Arguments: URL, 'asks' to call from one of them.
const [url, form] = process.argv.slice(2);

async function ask(prompt) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-registered', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: prompt }] }),
  });
  await response.text();
  console.log(prompt, response.headers.get('x-batchling-source') ?? 'plain');
}

let turns = 0;
process.on('beforeExit', () => {
  turns += 1;
  console.log('beforeExit');
  if (form === 'asks' && turns <= 2) void ask(`at the end, ${turns}`);
});
for (let listener = 1; listener < 10; listener += 1) process.on('beforeExit', () => undefined);
if (form === 'asks') await ask('before');
