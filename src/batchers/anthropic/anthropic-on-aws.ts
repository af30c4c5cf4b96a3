import type { Credentials, OutgoingRequest } from '../../http/wire.ts';
import { keyIdIn } from '../aws/aws-identity.ts';
import { type GivenCredential, givenToken } from '../aws/aws-keys.ts';
import { usualRegion } from '../aws/aws-region.ts';
import { signWireRequest } from '../aws/sign-wire-request.ts';

const host = /^aws-external-anthropic\.([a-z0-9-]+)\.api\.aws$/;

/**
 * Claude Platform on AWS: Anthropic's own wire behind keys of AWS. A captured signature serves one call only, so requests
 * of ours are signed anew. `undefined`: calls carry a key or a token, which serves our requests as well.
 */
export async function signForAws(
  request: OutgoingRequest,
  captured: Credentials,
  given: GivenCredential | undefined,
): Promise<Credentials | undefined> {
  const { authorization = '', ...others } = captured.headers ?? {};
  if (keyIdIn(authorization) === undefined) return undefined;
  const token = await givenToken(given);
  if (token !== undefined) return { headers: { ...others, 'x-api-key': token } };
  const region = host.exec(new URL(request.base).hostname)?.[1] ?? usualRegion();
  const audience = { service: 'aws-external-anthropic', region };
  const signed = await signWireRequest(request, audience, given);
  return { ...signed, headers: { ...others, ...signed.headers } };
}
