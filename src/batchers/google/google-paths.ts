import type { Wire } from '../../http/wire.ts';
import { wireAt } from '../../http/wire-at.ts';

/** A base without its version, and that version: the upload of files stands beside it. */
function partsOf(base: string): { host: string; version: string } {
  const trimmed = base.replace(/\/+$/, '');
  const version = /\/v1(?:beta)?$/.exec(trimmed)?.[0] ?? '';
  return { host: trimmed.slice(0, trimmed.length - version.length), version };
}

/** Files and batches are documented below `/v1beta` only, whatever version a call was written for. */
export function betaWire(wire: Wire): Wire {
  const { host, version } = partsOf(wire.base);
  if (version !== '/v1') return wire;
  return wireAt(wire, `${host}/v1beta`);
}

/** Where uploads begin: `/upload/v1beta/files` beside `/v1beta`. */
export function uploadUrl(base: string): string {
  const { host, version } = partsOf(base);
  return `${host}/upload${version}/files`;
}
