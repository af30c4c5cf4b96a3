/** The path of a thing that is called by its full name, `files/abc`. */
export function pathOf(name: string): string {
  return `/${name.split('/').map(encodeURIComponent).join('/')}`;
}

/**
 * A segment of a path as it was before it was escaped: clients write the `@`, `:` and `/` of a model in either way. One
 * with a broken escape stands for itself.
 */
export function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
