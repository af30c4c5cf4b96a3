import { createHash } from 'node:crypto';
import type { Credentials, OutgoingRequest, WireRequest } from '../../http/wire.ts';
import { findAwsKeys, type GivenCredential } from './aws-keys.ts';
import { type Audience, sha256, signRequest, unsignedPayload } from './sign-request.ts';

/** AWS wants these in the signature of every request that has them. */
const mustBeSigned = /^(content-type$|x-amz-)/;

/** A request of ours, signed for this service. */
export async function signWireRequest(
  request: OutgoingRequest,
  audience: Audience,
  given: GivenCredential | undefined,
): Promise<Credentials> {
  const { method, url, headers = {}, body, now } = request;
  const keys = await findAwsKeys(given);
  const payloadHash = await hashOf(body, url);
  const signed = Object.fromEntries(
    Object.entries(headers).filter(([name]) => mustBeSigned.test(name)),
  );
  return {
    headers: signRequest({ method, url, headers: signed, payloadHash }, keys, audience, now),
    hidden: [keys.accessKeyId, keys.secretAccessKey],
  };
}

/** TLS protects a file on its way, so that it need not be read twice. */
async function hashOf(body: WireRequest['body'], { protocol }: URL): Promise<string> {
  if (body === undefined) return sha256('');
  if (typeof body === 'string' || body instanceof Uint8Array) return sha256(body);
  if (protocol === 'https:') return unsignedPayload;
  const hash = createHash('sha256');
  for await (const chunk of body.chunks()) hash.update(chunk);
  return hash.digest('hex');
}
