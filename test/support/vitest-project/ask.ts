import OpenAI from 'openai';

export async function ask(content: string): Promise<string | null | undefined> {
  const { choices } = await new OpenAI().chat.completions.create({
    model: 'gpt-5-mini',
    messages: [{ role: 'user', content }],
  });
  return choices[0]?.message.content;
}
