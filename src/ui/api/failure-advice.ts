interface Advice {
  readonly fits: (status: number | undefined, text: string) => boolean;
  readonly advice: string;
}

const says = (pattern: RegExp) => (_: number | undefined, text: string) => pattern.test(text);
const has =
  (...statuses: number[]) =>
  (status: number | undefined) =>
    status !== undefined && statuses.includes(status);

/** What helps, by the first line that fits. */
const table: readonly Advice[] = [
  {
    fits: says(/batchling_deadline/),
    advice:
      'The deadline passed first. Allow more time, or let late ones go out as ordinary calls: onDeadline: "realtime".',
  },
  {
    fits: says(/batchling_expired/),
    advice:
      'The provider did not get to it in its window. Run the program again: only what is missing is sent.',
  },
  {
    fits: says(/batchling_missing/),
    advice:
      'The provider gave no usable answer in several tries. Run the program again; if it stays, look at the raw form.',
  },
  {
    fits: says(/batchling_cancelled/),
    advice: 'It was cancelled. Run the program again to send it again.',
  },
  {
    fits: says(/batchling_budget/),
    advice:
      'The budget had no room for it. Nothing was sent; raise the budget and run the program again.',
  },
  {
    fits: says(/context.{0,20}(length|window)|too.long|maximum.{0,20}tokens|max_tokens/i),
    advice:
      'The request is too long for the model. Shorten the prompt, or use a model with a larger context.',
  },
  {
    fits: says(/insufficient.quota|billing|credit|payment/i),
    advice:
      'The account has no money or quota left. Look at the billing page of the provider, then run the program again.',
  },
  {
    fits: has(401, 403),
    advice:
      'The key was refused. Check that it is valid, and that it may use this model and batches.',
  },
  {
    fits: (status, text) =>
      status === 404 ||
      /model.{0,60}(not (found|available|supported|exist)|unknown|unsupported)/i.test(text),
    advice:
      'The model or the endpoint does not exist, or takes no batches. Check its name and docs/providers.md.',
  },
  {
    fits: says(/content.{0,10}(policy|filter)|safety|blocked|moderation/i),
    advice:
      'The provider refused the content. Look at the example; sending it again gives the same.',
  },
  {
    fits: has(413),
    advice:
      'The request is larger than the provider takes in a batch. Make it smaller, or send it with x-batchling: off.',
  },
  {
    fits: has(429),
    advice:
      'Limits of the account stayed full through all tries. Run the program again later; only what is missing is sent.',
  },
  {
    fits: (status) => status !== undefined && status >= 500,
    advice:
      'The provider failed, also after several tries. Run the program again: only what is missing is sent.',
  },
  {
    fits: has(400, 422),
    advice:
      'The provider does not accept the request as it is. Look at the example, and correct the program.',
  },
];

const otherwise =
  'Correct what it says. Running the program again sends what has failed once more, and nothing else.';

/** What to do about an error. `text`: the body of the answer, or why a batch was refused. */
export function failureAdvice(status: number | undefined, text = ''): string {
  return table.find(({ fits }) => fits(status, text.slice(0, 10_000)))?.advice ?? otherwise;
}
