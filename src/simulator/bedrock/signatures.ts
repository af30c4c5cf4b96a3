import { createHash, createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type Exchange, readBytes } from '../server/exchange.ts';
import { refusal } from './errors.ts';

/** Keys of AWS's own documentation. */
const documented: Record<string, string> = {
  AKIDEXAMPLE: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  AKIAIOSFODNN7EXAMPLE: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};

/** The secret of a key: one of the documentation, the one of this process, else `secret-of-<id>`. */
function secretOf(id: string): string {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY = '' } = process.env;
  if (id === AWS_ACCESS_KEY_ID) return AWS_SECRET_ACCESS_KEY;
  return documented[id] ?? `secret-of-${id}`;
}

const pattern =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;

/** The id of the key of a signed request, or null for another one. */
export function signerOf({ authorization = '' }: IncomingHttpHeaders): string | null {
  return pattern.exec(authorization)?.[1] ?? null;
}

const longestSkew = 5 * 60_000;

/**
 * Checks a signature, and that the body is the signed one. Returns the exchange with a body that can still be read. A
 * bearer token serves everything but S3.
 */
export async function demandSignature(
  exchange: Exchange,
  service: string,
  now: number,
): Promise<Exchange> {
  const { headers, method } = exchange;
  const { authorization = '' } = headers;
  if (service !== 's3' && /^Bearer /i.test(authorization)) return exchange;
  const [, id = '', date = '', region = '', signedFor, names = '', signature] =
    pattern.exec(authorization) ?? [];
  if (signature === undefined)
    throw refusal(403, 'Missing Authentication Token', 'MissingAuthenticationTokenException');
  const time = String(headers['x-amz-date']);
  const payloadHash = String(headers['x-amz-content-sha256'] ?? emptyHash);
  if (Math.abs(momentOf(time) - now) > longestSkew || !time.startsWith(date)) {
    throw refusal(403, `Signature expired: ${time}`, 'InvalidSignatureException');
  }
  const { pathname } = new URL(`${exchange.origin}${exchange.path}`);
  const canonical = [
    method,
    service === 's3' ? pathname : pathname.split('/').map(encode).join('/'),
    [...exchange.query]
      .map((pair) => pair.map(encode).join('='))
      .sort()
      .join('&'),
    ...names.split(';').map((name) => `${name}:${headerValue(headers, name)}`),
    '',
    names,
    payloadHash,
  ].join('\n');
  const scope = [date, region, signedFor, 'aws4_request'];
  const toSign = ['AWS4-HMAC-SHA256', time, scope.join('/'), sha256(canonical)].join('\n');
  const key = scope.reduce<string | Buffer>(
    (secret, part) => hmac(secret, String(part)),
    `AWS4${secretOf(id)}`,
  );
  if (signedFor !== service || hmac(key, toSign).toString('hex') !== signature) {
    throw refusal(
      403,
      'The request signature we calculated does not match the signature you provided.',
      service === 's3' ? 'SignatureDoesNotMatch' : 'InvalidSignatureException',
    );
  }
  const needed = ['host', ...Object.keys(headers).filter((name) => name.startsWith('x-amz-'))];
  const left = needed.find((name) => !names.split(';').includes(name));
  if (left !== undefined)
    throw refusal(403, `${left} must be signed.`, 'InvalidSignatureException');
  if (payloadHash === 'UNSIGNED-PAYLOAD') return exchange;
  const body = await readBytes(exchange.body);
  if (sha256(body) !== payloadHash) {
    throw refusal(
      400,
      'The provided x-amz-content-sha256 header does not match what was computed.',
      'XAmzContentSHA256Mismatch',
    );
  }
  return { ...exchange, body: oneChunk(body) };
}

async function* oneChunk(body: Buffer): AsyncIterable<Buffer> {
  yield body;
}

function headerValue(headers: IncomingHttpHeaders, name: string): string {
  return String(headers[name] ?? '')
    .trim()
    .replace(/\s+/g, ' ');
}

/** `20260102T030405Z` in milliseconds. */
function momentOf(time: string): number {
  return Date.parse(time.replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)$/, '$1-$2-$3:$4:$5'));
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

const emptyHash = sha256('');
