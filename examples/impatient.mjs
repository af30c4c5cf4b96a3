// A program that knows nothing of batchling, and whose client gives up and tries again, as those of
// many evaluation tools do. Each try joins the request of the one before; nothing is paid twice.
//
//   node --import batchling/register examples/impatient.mjs
const base = process.env.OPENAI_BASE_URL ?? 'https://api.openai.com/v1';
const patience = Number(process.env.PATIENCE_MS ?? 300_000);
const tries = 5;

/** Rejects when its time is up, whatever becomes of the call. */
function fetchWithTimeout(url, init) {
  return new Promise((resolve, reject) => {
    const controller = new AbortController();
    const timer = setTimeout(() => {
      controller.abort();
      reject(new Error(`no answer within ${patience} ms`));
    }, patience);
    fetch(url, { ...init, signal: controller.signal })
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}

async function ask(content) {
  const headers = {
    authorization: `Bearer ${process.env.OPENAI_API_KEY}`,
    'content-type': 'application/json',
  };
  const body = JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content }] });
  for (let attempt = 1; ; attempt += 1) {
    try {
      const url = `${base}/chat/completions`;
      const response = await fetchWithTimeout(url, { method: 'POST', headers, body });
      const completion = await response.json();
      return completion.choices[0].message.content;
    } catch (error) {
      console.error(`${content}: try ${attempt} of ${tries}: ${error.message}`);
      if (attempt === tries) throw error;
    }
  }
}

const questions = Array.from({ length: 20 }, (_, index) => `Question ${index + 1}`);
const answers = await Promise.all(questions.map(ask));
for (const [index, answer] of answers.entries()) {
  console.log(JSON.stringify({ question: questions[index], answer }));
}
