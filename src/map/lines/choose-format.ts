import { BatchlingError } from '../../base/errors.ts';
import { builtInInfos } from '../../batchers/registry.ts';
import { schemaCheck } from '../check/schema-check.ts';
import type { LineTerms } from '../map-request.ts';
import type { FormatName, LineFormat } from './line-format.ts';
import { anthropicLines, googleLines, openaiLines } from './provider-lines.ts';
import { rowLines } from './row-lines.ts';
import { jsonTemplate } from './template.ts';
import { wireForm } from './wire-forms.ts';

/** The column that answers go into. */
export const usualInto = 'answer';

/** The provider that lines go to, and how they are read. */
export interface ChosenFormat {
  readonly provider: string;
  /** The base URL that the user has named. */
  readonly base: string | undefined;
  readonly format: LineFormat;
}

/** Throws what is missing for lines of this form, as the user would write it. */
export async function chooseFormat(name: FormatName, terms: LineTerms): Promise<ChosenFormat> {
  const { to } = terms;
  const base = to !== undefined && /^https?:\/\//.test(to) ? to : undefined;
  const named = base === undefined ? to : undefined;
  switch (name) {
    case 'openai':
      refuseRowTerms(name, terms);
      return { provider: named ?? 'openai', base, format: openaiLines };
    case 'anthropic':
      refuseRowTerms(name, terms);
      return { provider: named ?? 'anthropic', base, format: anthropicLines };
    case 'google': {
      refuseRowTerms(name, terms);
      const { model } = terms;
      if (model === undefined)
        throw wrong('Lines of Gemini name no model: --model gemini-2.5-flash');
      const format = googleLines(model.replace(/^google\//, ''));
      return { provider: named ?? 'google', base, format };
    }
    case 'rows':
      return { ...(await chooseRows(terms, named)), base };
    default:
      throw wrong(`input is openai, anthropic, google or rows, and not "${name satisfies never}".`);
  }
}

async function chooseRows(
  terms: LineTerms,
  named: string | undefined,
): Promise<Omit<ChosenFormat, 'base'>> {
  const { prompt, system, maxTokens, schema, body, into = usualInto } = terms;
  const path = terms.url?.replace(/^\/v1(beta)?(?=\/)/, '');
  const check = schema && (await schemaCheck(schema));
  if (body !== undefined) {
    if (prompt !== undefined) throw wrong('Give --prompt or --body, not both.');
    refuseTerms(
      terms,
      ['model', 'system', 'maxTokens'],
      (flag) =>
        `${flag} does nothing beside --body, which is sent as it is: say it in the body (and --to for the provider).`,
    );
    const provider = named ?? 'openai';
    if (path === undefined) throw wrong('--body needs to know where it goes: --url /v1/embeddings');
    const form = wireForm(provider, path);
    return {
      provider,
      format: rowLines({ path, body: jsonTemplate(body, { typed: true }), form, into, check }),
    };
  }
  const chosen = modelOf(terms, named);
  if (prompt === undefined || chosen === undefined) {
    throw wrong(
      'Rows need a model and a prompt: --model openai/gpt-5-mini --prompt "Translate into French: {{text}}" ' +
        '(or --body body.json --to openai --url /v1/embeddings)',
    );
  }
  const provider = named ?? chosen.provider;
  const form = wireForm(provider, path);
  if (form.body === undefined)
    throw wrong(`There is no form for a prompt at ${terms.url}: give --body.`);
  const { model } = chosen;
  if (path !== undefined && path !== form.path(model))
    throw wrong(`There is no form for a prompt at ${terms.url}: give --body.`);
  if (path === '/embeddings') {
    refuseTerms(
      terms,
      ['system', 'maxTokens', 'schema'],
      (flag) => `${flag} does nothing at ${terms.url}, where the answers are vectors.`,
    );
  }
  const filled = form.body({ model, prompt, system, maxTokens, schema });
  const template = jsonTemplate(filled, { typed: false, literal: schema });
  return {
    provider,
    format: rowLines({ path: form.path(model), body: template, form, into, check }),
  };
}

/** `openai/gpt-5-mini`; a model may have further slashes. `named`: the provider of `--to`. */
function modelOf(
  { model, to }: LineTerms,
  named: string | undefined,
): { provider: string; model: string } | undefined {
  if (model === undefined) return undefined;
  const [, provider = '', name = ''] = /^([^/]+)\/(.+)$/.exec(model) ?? [];
  // Models have the names of their makers in theirs: Groq's openai/gpt-oss-20b.
  const isMaker = named !== undefined && named !== provider;
  const isKnown = builtInInfos.some((info) => info.name === provider);
  if (isKnown && !isMaker) return { provider, model: name };
  // With a provider of its own, the whole text is the model.
  if (to !== undefined) return { provider: 'openai', model };
  throw wrong(
    `--model names a provider and a model, such as openai/gpt-5-mini, and not "${model}". ` +
      `Providers: ${builtInInfos.map((info) => info.name).join(', ')}`,
  );
}

const flags = {
  model: '--model',
  prompt: '--prompt',
  body: '--body',
  schema: '--schema',
  system: '--system',
  maxTokens: '--max-tokens',
  url: '--url',
  into: '--into',
} as const;

type FlagTerm = keyof typeof flags;

/** Throws for a flag that would be passed over: what is paid for would be something else. */
function refuseTerms(
  terms: LineTerms,
  refused: readonly FlagTerm[],
  why: (flag: string) => string,
): void {
  const given = refused.find((term) => terms[term] !== undefined);
  if (given !== undefined) throw wrong(why(flags[given]));
}

/** Lines of Gemini name no model. */
function refuseRowTerms(name: FormatName, terms: LineTerms): void {
  const all = Object.keys(flags) as FlagTerm[];
  const refused = all.filter((term) => term !== 'model' || name !== 'google');
  refuseTerms(
    terms,
    refused,
    (flag) =>
      `${flag} is for rows, but the input holds ${name} lines, which say themselves what they ask for. ` +
      '--input rows takes them as rows.',
  );
}

function wrong(message: string): BatchlingError {
  return new BatchlingError('INVALID_OPTION', message);
}
