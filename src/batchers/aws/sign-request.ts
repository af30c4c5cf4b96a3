import { createHash, createHmac } from 'node:crypto';
import type { Dict } from '../../base/types.ts';

/** Keys of AWS, as its SDKs know them. */
export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/** Whom a signature is for. */
export interface Audience {
  /** `bedrock`, `s3` … */
  readonly service: string;
  readonly region: string;
}

/** A request before it is signed. */
export interface UnsignedRequest {
  readonly method: string;
  readonly url: URL;
  /** The headers to sign beside those that every signature has. */
  readonly headers?: Dict;
  /** The SHA-256 of the body in hex, or the word for a body that is not signed. */
  readonly payloadHash: string;
}

/** For S3 over TLS: the body is sent as it comes, without being read before. */
export const unsignedPayload = 'UNSIGNED-PAYLOAD';

const algorithm = 'AWS4-HMAC-SHA256';

/** The headers that sign a request: AWS Signature Version 4. `now` is in milliseconds. */
export function signRequest(
  request: UnsignedRequest,
  keys: AwsKeys,
  audience: Audience,
  now: number,
): Dict {
  const time = new Date(now).toISOString().replace(/[-:]|\.\d{3}/g, '');
  const date = time.slice(0, 8);
  const scope = `${date}/${audience.region}/${audience.service}/aws4_request`;
  const added: Dict = {
    'x-amz-date': time,
    'x-amz-content-sha256': request.payloadHash,
    ...(keys.sessionToken !== undefined && { 'x-amz-security-token': keys.sessionToken }),
  };
  const { names, text } = canonicalHeaders({
    ...request.headers,
    ...added,
    host: request.url.host,
  });
  const canonical = [
    request.method,
    canonicalPath(request.url, audience),
    canonicalQuery(request.url),
    text,
    names,
    request.payloadHash,
  ].join('\n');
  const toSign = [algorithm, time, scope, sha256(canonical)].join('\n');
  const parts = [date, audience.region, audience.service, 'aws4_request'];
  const key = parts.reduce<string | Buffer>(hmac, `AWS4${keys.secretAccessKey}`);
  const signature = hmac(key, toSign).toString('hex');
  return {
    ...added,
    authorization: `${algorithm} Credential=${keys.accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  };
}

export function sha256(body: string | Uint8Array): string {
  return createHash('sha256').update(body).digest('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

/** S3 takes a path as it is sent. The other services encode it once more. */
function canonicalPath({ pathname }: URL, { service }: Audience): string {
  return service === 's3' ? pathname : pathname.split('/').map(encode).join('/');
}

/** Sorted by name, then by value, both encoded. A parameter without a value has an empty one. */
function canonicalQuery({ search }: URL): string {
  const pairs = search.slice(1).split('&').filter(Boolean);
  return pairs
    .map((pair) => {
      const [name = '', ...value] = pair.split('=');
      return [recoded(name), recoded(value.join('='))] as const;
    })
    .sort(([name, value], [otherName, otherValue]) =>
      name === otherName ? compare(value, otherValue) : compare(name, otherName),
    )
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

function canonicalHeaders(headers: Dict): { names: string; text: string } {
  const lines = Object.entries(headers)
    .map(([name, value]) => [name.toLowerCase(), value.trim().replace(/\s+/g, ' ')] as const)
    .sort(([one], [other]) => compare(one, other));
  return {
    names: lines.map(([name]) => name).join(';'),
    text: lines.map(([name, value]) => `${name}:${value}\n`).join(''),
  };
}

function recoded(text: string): string {
  return encode(decodeURIComponent(text));
}

/** `encodeURIComponent` leaves five characters that AWS encodes. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
