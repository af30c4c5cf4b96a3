// Ordinary code without any SDK. It knows nothing of batchling:
//
//   npx batchling run examples/unchanged/fetch.mjs
//   npx batchling exec -- node examples/unchanged/fetch.mjs
const base = process.env.OPENAI_BASE_URL ?? 'https://api.openai.com/v1';
const cities = ['Lisbon', 'Oslo', 'Quito', 'Seoul'];

async function describe(city) {
  const response = await fetch(`${base}/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${process.env.OPENAI_API_KEY}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      model: 'gpt-5-mini',
      messages: [{ role: 'user', content: `One sentence about ${city}.` }],
    }),
  });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  const { choices } = await response.json();
  return `${city}: ${choices[0].message.content}`;
}

console.log((await Promise.all(cities.map(describe))).join('\n'));
