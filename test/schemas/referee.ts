import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Recorded } from '../support/servers/recording-proxy.ts';
import { findOperation, type Operation, type PublishedDocument } from './document.ts';
import { formFields } from './form.ts';
import { type Schema, toJsonSchema, toJsonSchemas } from './json-schema.ts';

/** Judges traffic by a document that we did not write. No faults: an empty list. */
export interface Referee {
  /** A request and its reply, by the operation they belong to. */
  judge(exchange: Recorded): Promise<readonly string[]>;
  /** One object, by the name of its schema. */
  faultsOf(schema: string, value: unknown): readonly string[];
  /** A body, by its operation: of the request, or of the reply with this status. */
  bodyFaults(method: string, path: string, body: unknown, status?: number): readonly string[];
}

const rules = { strict: true, strictTypes: false, strictRequired: false, allErrors: true };

/** `root` is what stands before the paths of the document: `/v1`. */
export function createReferee(document: PublishedDocument, root = ''): Referee {
  const published = { $id: 'published', $defs: toJsonSchemas(document.components.schemas) };
  const plain = new Ajv2020({ ...rules, validateFormats: false }).addSchema(published);
  // A form and a query have texts only; `3600` is an integer there.
  const texts = new Ajv2020({ ...rules, validateFormats: false, coerceTypes: true });
  texts.addSchema(published);
  const compiled = new Map<Schema, ValidateFunction>();

  function faultsBy(schema: Schema, value: unknown, ajv = plain): string[] {
    const validate = compiled.get(schema) ?? ajv.compile(toJsonSchema(schema));
    compiled.set(schema, validate);
    return validate(value) ? [] : (validate.errors ?? []).map(textOf);
  }

  function queryFaults({ parameters = [] }: Operation, query: URLSearchParams): string[] {
    const known = parameters.filter((parameter) => parameter.in === 'query');
    const properties = Object.fromEntries(known.map(({ name, schema }) => [name, schema]));
    const schema = { type: 'object', properties, additionalProperties: false };
    return faultsBy(schema, Object.fromEntries(query), texts);
  }

  async function requestFaults({ requestBody }: Operation, { type = '', body }: Recorded) {
    if (requestBody === undefined) return body.length === 0 ? [] : ['it has no body'];
    const schema = requestBody.content[mediaType(type)]?.schema;
    if (schema === undefined) return [`its body may not be ${type || 'missing'}`];
    if (mediaType(type) === 'multipart/form-data') {
      return faultsBy(schema, await formFields(type, Buffer.from(body)), texts);
    }
    return faultsBy(schema, JSON.parse(body));
  }

  function replyFaults({ responses }: Operation, { reply }: Recorded): string[] {
    if (reply === undefined) return [];
    const { status, type = '', body } = reply;
    const response = responses[status];
    if (response === undefined) return [`it has no status ${status}`];
    const schema = response.content[mediaType(type)]?.schema;
    if (schema === undefined) return [`a reply with status ${status} may not be ${type}`];
    return mediaType(type) === 'application/json' ? faultsBy(schema, JSON.parse(body)) : [];
  }

  const reference = (name: string): Schema => {
    if (!(name in document.components.schemas)) throw new Error(`No schema is named ${name}`);
    return { $ref: `#/components/schemas/${name}` };
  };

  return {
    async judge(exchange) {
      const { pathname, searchParams } = new URL(exchange.path, 'http://localhost');
      const path = pathname.startsWith(root) ? pathname.slice(root.length) : pathname;
      const found = findOperation(document, exchange.method, path);
      if (found === undefined)
        return [`${exchange.method} ${pathname}: there is no such operation`];
      const { template, operation } = found;
      const request = [
        ...queryFaults(operation, searchParams),
        ...(await requestFaults(operation, exchange)),
      ];
      return [
        ...request.map((fault) => `${exchange.method} ${template}: ${fault}`),
        ...replyFaults(operation, exchange).map(
          (fault) => `${exchange.method} ${template} → ${exchange.reply?.status}: ${fault}`,
        ),
      ];
    },

    faultsOf: (name, value) => faultsBy(reference(name), value),

    bodyFaults(method, path, body, status) {
      const operation = findOperation(document, method, path)?.operation;
      const where = status === undefined ? operation?.requestBody : operation?.responses[status];
      const [schema] = Object.values(where?.content ?? {});
      if (schema === undefined) return [`${method} ${path} ${status ?? ''}: there is no such body`];
      return faultsBy(schema.schema, body);
    },
  };
}

function mediaType(contentType: string): string {
  return contentType.split(';')[0]?.trim() ?? '';
}

function textOf({ instancePath, message, params }: ErrorObject): string {
  const { unevaluatedProperty, additionalProperty, allowedValues } = params;
  const detail = unevaluatedProperty ?? additionalProperty ?? allowedValues?.join(', ');
  return `${instancePath || 'the body'} ${message}${detail === undefined ? '' : ` (${detail})`}`;
}
