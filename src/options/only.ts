import type { OnlyPredicate } from '../orchestrator/model/call.ts';
import { type Form, type ParseContext, refuse } from './form.ts';
import { unknownProvider } from './providers.ts';

export const only: Form<OnlyPredicate> = {
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
    return value as OnlyPredicate;
  },
};

function parsePatterns(text: string, context: ParseContext): OnlyPredicate {
  const parts = text.split(',').map((part) => part.trim());
  const patterns = parts.filter((part) => part !== '').map((part) => parsePattern(part, context));
  if (patterns.length === 0) refuse(text);
  return (call) =>
    patterns.some(({ provider, model }) => provider.test(call.provider) && model.test(call.model));
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
  return { provider, model: glob(model) };
}

function glob(pattern: string): RegExp {
  const pieces = pattern
    .split(/\*+/)
    .map((piece) => piece.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'));
  return new RegExp(`^${pieces.join('.*')}$`, 's');
}
