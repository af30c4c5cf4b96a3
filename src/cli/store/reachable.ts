import { type RegisteredBatcher, registeredBatchers } from '../../batchers/registry.ts';
import type { Ledger, OpenBatch } from '../../ledger/ledger.ts';
import type { ResolvedOptions } from '../../options/index.ts';
import type { Resumer } from '../../orchestrator/engine.ts';
import { counted } from '../../report/text/summary.ts';
import { findCredential, type NamedVariables, variablesFor } from './find-credential.ts';

/** How a batch can be reached at its provider, or why it cannot. */
export type Reach = Omit<Resumer, 'scope'> | { readonly obstacle: string };

/** How many batches a sentence names. */
const mostNamed = 3;

/** Finds for batches their batchers and the credentials they were sent with. */
export class Reachable {
  readonly #ledger: Ledger;
  readonly #named: NamedVariables;
  readonly #registered: readonly RegisteredBatcher[];
  /** The tokens of batches, by what is in the way of reaching them. */
  readonly #obstacles = new Map<string, Set<string>>();

  constructor(ledger: Ledger, { batchers }: ResolvedOptions, named: NamedVariables) {
    this.#ledger = ledger;
    this.#named = named;
    this.#registered = registeredBatchers(batchers);
  }

  async reach(batch: OpenBatch): Promise<Reach> {
    const { account } = batch;
    const registered = this.#registered.find(({ name }) => name === account.provider);
    if (registered === undefined) {
      return this.#note(batch, `its batcher is not built in: run its program again`);
    }
    const headers = findCredential(
      account,
      this.#ledger,
      registered.info,
      this.#named,
      process.env,
    );
    if (headers === undefined) return this.#note(batch, this.#adviceFor(batch, registered));
    return { batcher: await registered.load(), headers };
  }

  /** What has to be done so that the others can be reached: a sentence for each account. */
  obstacles(): string[] {
    return [...this.#obstacles].map(([obstacle, tokens]) => {
      const [provider, ...rest] = obstacle.split('\n');
      const batches = counted(tokens.size, 'batch', 'batches');
      const named = [...tokens].slice(0, mostNamed).join(', ');
      const more = tokens.size > mostNamed ? ', …' : '';
      return `no credential for the account of ${batches} (${provider}: ${named}${more}): ${rest.join(' ')}`;
    });
  }

  #note({ token, account }: OpenBatch, advice: string): Reach {
    const obstacle = `${account.provider}\n${advice}`;
    const tokens = this.#obstacles.get(obstacle) ?? new Set();
    this.#obstacles.set(obstacle, tokens.add(token));
    return { obstacle: advice };
  }

  #adviceFor({ account }: OpenBatch, { info }: RegisteredBatcher): string {
    const variables = variablesFor(account, info, this.#named);
    const flag = `--credential ${info.name}=VARIABLE names another one`;
    const [first] = variables;
    if (first === undefined) {
      return (
        'its tokens are renewed by the hour and stand in no variable: run its program again, or put ' +
        `the token it was sent with into a variable (${flag})`
      );
    }
    const wrong = variables.filter((variable) => process.env[variable]);
    const others = Object.values(info.accountEnvironment ?? {});
    const same = others.length > 0 ? `; ${others.join(' and ')} as they were then` : '';
    const set = wrong.length > 0 ? ` (${wrong.join(', ')} holds the key of another account)` : '';
    return `set ${first} to the key they were sent with${same}${set}; ${flag}`;
  }
}
