const words = (
  'river window market number silver garden signal winter engine letter planet harbour copper ' +
  'method answer forest pocket summer record bridge candle island matter sentence'
).split(' ');

/** `count` prompts of nearly a kilobyte each, all different, the same in every process. */
export function makePrompts(count) {
  const prompts = [];
  let random = 1;
  for (let number = 0; number < count; number += 1) {
    const parts = [`Question ${number}:`];
    for (let length = 0; length < 880; ) {
      random = (random * 1_103_515_245 + 12_345) % 2_147_483_648;
      const word = words[random % words.length];
      parts.push(word);
      length += word.length + 1;
    }
    prompts.push(parts.join(' '));
  }
  return prompts;
}

/** The body a program would send to `/chat/completions`; about 1 KB as JSON. */
export function bodyOf(prompt) {
  return {
    model: 'gpt-5-mini',
    messages: [
      { role: 'system', content: 'Answer in one short sentence.' },
      { role: 'user', content: prompt },
    ],
  };
}

/** Throws unless every prompt has the answer to itself. Not part of what is measured. */
export function checkAnswers(prompts, answers) {
  prompts.forEach((prompt, index) => {
    const content = answers[index]?.choices?.[0]?.message?.content;
    if (!content?.includes(`"${prompt}"`)) throw new Error(`Prompt ${index} got: ${content}`);
  });
}
