type Exports = Readonly<Record<string, unknown>>;
export type ExportedFunction = (...given: unknown[]) => unknown;

/** Exported functions by name. A CommonJS module may have all of them in its default export. */
export function exportedFunctions(module: Exports): Map<string, ExportedFunction> {
  const inner = module.default;
  const isObject = typeof inner === 'object' && inner !== null;
  const all = Object.entries({
    ...(isObject ? (inner as Exports) : {}),
    ...withoutDefault(module),
  });
  const functions = all.filter((entry): entry is [string, ExportedFunction] => {
    return typeof entry[1] === 'function' && entry[0] !== 'module.exports';
  });
  return new Map(functions);
}

/** A default export that is an object stands for the exports of a CommonJS module, and is no function itself. */
function withoutDefault(module: Exports): Exports {
  const { default: inner, ...named } = module;
  return typeof inner === 'function' ? module : named;
}

/** Says that a file has no such function, and which ones it has. */
export function noSuchExport(file: string, name: string, names: readonly string[]): string {
  if (names.length === 0) return `${file} exports no function, so none named ${name}`;
  return `${file} exports no function ${name}; it exports ${names.join(', ')}`;
}
