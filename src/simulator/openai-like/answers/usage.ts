/** The tokens of an answer that is made by completing a prompt. */
export function usageOf(inputTokens: number, outputTokens: number) {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
}
