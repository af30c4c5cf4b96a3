import type { Only } from '../orchestrator/model/call.ts';
import { type Form, type ParseContext, refuse } from './form.ts';
import { unknownProvider } from './providers.ts';

export const only: Form<Only> = {
  allowed:
    'a function (call) => boolean that is not async, or provider names with models after a ' +
    'colon, "openai,anthropic:claude-*"',
  read: (text) => text,
  parse: (value, context) => {
    if (typeof value === 'string') return parsePatterns(value, context);
    if (typeof value !== 'function') return refuse(value);
    // Its promise would count as true, and everything would be batched.
    if (Object.prototype.toString.call(value) === '[object AsyncFunction]')
      refuse(value, 'it is async');
    return value as Only;
  },
};

/** How many models that were left out are named at most. */
const mostModels = 5;

/** Its patterns remember whether they have chosen a call, and it remembers what it has left out. */
function parsePatterns(text: string, context: ParseContext): Only {
  const parts = text.split(',').map((part) => part.trim());
  const patterns = parts.filter((part) => part !== '').map((part) => parsePattern(part, context));
  if (patterns.length === 0) refuse(text);
  const leftOut = new Set<string>();
  const only: Only = (call) => {
    let isChosen = false;
    for (const pattern of patterns) {
      if (!pattern.provider.test(call.provider) || !pattern.model.test(call.model)) continue;
      pattern.isUsed = true;
      isChosen = true;
    }
    if (!isChosen && leftOut.size <= mostModels) leftOut.add(`${call.provider}:${call.model}`);
    return isChosen;
  };
  const complaint = () => {
    const unused = patterns.filter(({ isUsed }) => !isUsed).map(({ part }) => `"${part}"`);
    if (unused.length === 0 || leftOut.size === 0) return undefined;
    const models = [...leftOut].slice(0, mostModels);
    if (leftOut.size > mostModels) models.push('others');
    return (
      `The option only names ${unused.join(' and ')}, which matched no call. Calls to ${models.join(', ')} ` +
      'were left out, which means full price. Correct the pattern, or take it out.'
    );
  };
  return Object.assign(only, { text, complaint });
}

function parsePattern(part: string, context: ParseContext) {
  // Names of fine-tuned models hold colons, provider names do not.
  const colon = part.indexOf(':');
  const name = colon < 0 ? part : part.slice(0, colon);
  const provider = glob(name);
  const known = context.knownProviders();
  if (!known.some((candidate) => provider.test(candidate))) {
    refuse(part, name.includes('*') ? 'no provider has such a name' : unknownProvider(name, known));
  }
  const model = colon < 0 ? '*' : part.slice(colon + 1);
  if (model === '') refuse(part, 'no model after the colon');
  return { part, provider, model: glob(model), isUsed: false };
}

function glob(pattern: string): RegExp {
  const pieces = pattern
    .split(/\*+/)
    .map((piece) => piece.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'));
  return new RegExp(`^${pieces.join('.*')}$`, 's');
}
