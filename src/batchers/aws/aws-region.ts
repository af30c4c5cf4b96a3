import { text } from '../../base/json.ts';

/** The region that the usual variables name, for hosts that name none. */
export function usualRegion(): string {
  const { AWS_REGION, AWS_DEFAULT_REGION } = process.env;
  return text(AWS_REGION) ?? text(AWS_DEFAULT_REGION) ?? 'us-east-1';
}
