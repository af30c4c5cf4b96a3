import { BatchlingError, messageOf } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';

/** Loads the validator and makes a check of a schema: what is wrong with a value, or `undefined`. */
export async function schemaCheck(
  schema: JsonObject,
): Promise<(value: unknown) => string | undefined> {
  const { Ajv2020 } = await import('ajv/dist/2020.js');
  // Schemas for models name formats and keywords that no validator knows, and older drafts.
  const { $schema: _draft, ...rules } = schema;
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  try {
    const validate = ajv.compile(rules);
    return (value) =>
      validate(value) ? undefined : ajv.errorsText(validate.errors, { dataVar: 'it' });
  } catch (error) {
    throw new BatchlingError('INVALID_OPTION', `The schema cannot be used: ${messageOf(error)}`);
  }
}
