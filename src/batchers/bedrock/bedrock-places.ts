import { BatchlingError } from '../../base/errors.ts';
import { text } from '../../base/json.ts';
import type { Handle } from '../../base/types.ts';
import type { Wire, WireRequest } from '../../http/wire.ts';
import { usualRegion } from '../aws/aws-region.ts';
import type { Audience } from '../aws/sign-request.ts';
import type { Settings } from '../provider-info.ts';

/** A host of AWS: whether it is FIPS, the region, and the domain. A server of the user's may begin like one. */
const ownHost =
  /^bedrock-runtime(-fips)?\.([a-z0-9-]+)\.(amazonaws\.(?:com(?:\.cn)?|eu)|api\.aws)$/;

/** Where jobs are made, seen from the base of calls: beside it at AWS, below the same base elsewhere. */
export function controlUrl(base: string, path: string): string {
  const [, fips = '', region, domain] = ownHost.exec(new URL(base).hostname) ?? [];
  return region === undefined ? path : `https://bedrock${fips}.${region}.${domain}${path}`;
}

/** S3 of the region. A server that the user has named, which may see signatures only, serves it itself. */
function storageUrl(base: string): string {
  const [, , region, domain = ''] = ownHost.exec(new URL(base).hostname) ?? [];
  if (region === undefined) return base.replace(/\/+$/, '');
  // The dual-stack hosts of Bedrock have a domain that S3 does not.
  return `https://s3.${region}.${domain === 'api.aws' ? 'amazonaws.com' : domain}`;
}

export function originsOf(base: string): readonly string[] {
  const places = [base, controlUrl(base, ''), storageUrl(base)].filter(Boolean);
  return [...new Set(places.map((place) => new URL(place).origin))];
}

/** The region of a call: that of its host, else what the user says. */
export function regionOf(base: string, settings: Settings = {}): string {
  return ownHost.exec(new URL(base).hostname)?.[2] ?? text(settings.region) ?? usualRegion();
}

/** Where a batch keeps its files. It is all that a program without the settings needs to go on with it. */
export interface Files {
  readonly bucket: string;
  /** Ends with a slash. */
  readonly folder: string;
  readonly region: string;
  /** The S3 server. */
  readonly server: string;
}

/** The same as a handle. */
export function handleOf(base: string, settings: Settings, token: string): Handle {
  const { s3Endpoint, roleArn, bucket } = settings;
  if (typeof roleArn !== 'string' || typeof bucket !== 'string') {
    throw new BatchlingError('INVALID_OPTION', settingsAdvice);
  }
  return {
    folder: `${bucket}/batchling/${token}/`,
    region: regionOf(base, settings),
    server: text(s3Endpoint) ?? storageUrl(base),
    roleArn,
  };
}

export const settingsAdvice =
  "Batches of Bedrock go through a bucket of S3 with a service role: set providers: { bedrock: { bucket: 's3://…', roleArn: 'arn:aws:iam::…' } }.";

export function filesOf({ folder: uri, region, server }: Handle): Files | undefined {
  const [, bucket, folder] = /^s3:\/\/([^/]+)\/(.+\/)$/.exec(uri ?? '') ?? [];
  if (bucket === undefined || folder === undefined || !region || !server) return undefined;
  return { bucket, folder, region, server };
}

/** The place of one object, for a request that is signed for S3. */
export function objectRequest(
  { server, bucket, region }: Files,
  key: string,
): Pick<WireRequest, 'path' | 'audience'> {
  const path = key.split('/').map(encodeURIComponent).join('/');
  return { path: `${server}/${bucket}/${path}`, audience: `s3/${region}` };
}

/** Whom a request is signed for: `s3/us-east-1`, or Bedrock. */
export function audienceOf(audience = 'bedrock', base: string): Audience {
  const [service = '', region] = audience.split('/');
  return { service, region: regionOf(base, { region }) };
}

/** Bedrock in the region that the user says. Where the host names one, that counts. */
export function bedrockIn({ region }: Settings): Pick<WireRequest, 'audience'> {
  return typeof region === 'string' ? { audience: `bedrock/${region}` } : {};
}

/** The same wire, whose requests to Bedrock are signed for the region of a batch. */
export function wireIn(wire: Wire, region: Handle): Wire {
  return { ...wire, send: (request) => wire.send({ ...bedrockIn(region), ...request }) };
}
