const account = 'accounts/simulator';

/** Whatever key asks, the account has this name; what is in it belongs to the key. */
export const accountName = account;

export function datasetName(id: string): string {
  return `${account}/datasets/${id}`;
}

export function jobName(id: string): string {
  return `${account}/batchInferenceJobs/${id}`;
}
