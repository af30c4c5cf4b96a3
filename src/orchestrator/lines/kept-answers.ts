import type { Answer } from '../../base/types.ts';
import type { RequestId } from '../../ledger/ledger.ts';

/** Characters of all answers that are kept at once. What does not fit is read from the ledger again. */
const mostCharacters = 4 * 1024 * 1024;

/** How much of that is used by all batches of an engine. */
export interface KeptRoom {
  characters: number;
}

/** Answers of a batch of lines that are in the ledger, on their way to the job. */
export class KeptAnswers {
  readonly #room: KeptRoom;
  readonly #answers = new Map<RequestId, Answer>();
  #characters = 0;

  constructor(room: KeptRoom) {
    this.#room = room;
  }

  add(row: RequestId, answer: Answer): void {
    const { length } = answer.body;
    if (this.#room.characters + length > mostCharacters) return;
    this.#room.characters += length;
    this.#characters += length;
    // What was parsed of it takes several times as much memory.
    const { status, headers, body } = answer;
    this.#answers.set(row, { status, headers, body });
  }

  get(row: RequestId): Answer | undefined {
    return this.#answers.get(row);
  }

  /** The job needs them no more. Twice is a no-op. */
  release(): void {
    this.#answers.clear();
    this.#room.characters -= this.#characters;
    this.#characters = 0;
  }
}
