// Ordinary code for Voyage. It knows nothing of batchling:
//
//   VOYAGE_API_KEY=… npx batchling run examples/providers/voyage.mjs
const base = process.env.VOYAGE_BASE_URL ?? 'https://api.voyageai.com/v1';
const words = ['bridge', 'river', 'harbour'];

async function embed(word) {
  const response = await fetch(`${base}/embeddings`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${process.env.VOYAGE_API_KEY}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model: 'voyage-4-lite', input: [word], input_type: 'document' }),
  });
  const { data } = await response.json();
  return `${word}: ${data[0].embedding.length} numbers`;
}

console.log((await Promise.all(words.map(embed))).join('\n'));
