/** A form as the object that its schema describes: `a[b]` is a field of `a`, a file is its text. */
export async function formFields(contentType: string, body: Buffer): Promise<object> {
  const form = await new Response(body, { headers: { 'content-type': contentType } }).formData();
  const fields: Record<string, unknown> = {};
  for (const [name, value] of form) {
    const text = typeof value === 'string' ? value : await value.text();
    const [, outer, inner] = /^([^[]+)\[([^\]]+)\]$/.exec(name) ?? [];
    if (outer === undefined || inner === undefined) fields[name] = text;
    else fields[outer] = { ...(fields[outer] as object | undefined), [inner]: text };
  }
  return fields;
}
