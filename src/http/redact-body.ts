/**
 * A body of a provider without the credentials it may echo. JSON is redacted value by value: an escaped
 * credential is found too, and a header such as `x-debug: true` cannot break what is around it. A body
 * that holds none stays byte for byte as it came.
 */
export function redactBody(body: string, redact: (text: string) => string): string {
  try {
    return redactJson(body, redact);
  } catch {
    // The body is not JSON, or nested too deeply.
    return redact(body);
  }
}

function redactJson(body: string, redact: (text: string) => string): string {
  let changed = false;
  function redactText(text: string): string {
    const result = redact(text);
    changed ||= result !== text;
    return result;
  }
  function redactValue(value: unknown): unknown {
    if (typeof value === 'string') return redactText(value);
    if (Array.isArray(value)) return value.map(redactValue);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [redactText(name), redactValue(member)]),
    );
  }
  const result = redactValue(JSON.parse(body));
  return changed ? JSON.stringify(result) : body;
}
