/** What the server of the page says to the page. Types alone: the browser's code imports this file, too. */
import type { Answer } from '../base/types.ts';
import type {
  BatchSummary,
  CostDimension,
  CostRow,
  OwnerInfo,
  QueuePlace,
} from '../ledger/ledger.ts';
import type { Slowness } from '../orchestrator/model/batch-times.ts';

/** Where requests of one kind go. */
export type PlaceJson = QueuePlace;

export interface InfoJson {
  readonly version: string;
  /** Where the ledger is, without secrets. */
  readonly store: string;
  readonly canWrite: boolean;
  /** Why there is nothing to see; missing: there is a ledger. */
  readonly missing?: string;
}

export interface ChangedJson {
  readonly version: number;
}

export interface BatchJson extends Omit<BatchSummary, 'token'> {
  readonly id: string;
  /** The state in plain words. */
  readonly words: string;
  readonly owner?: OwnerInfo;
  readonly slow?: Slowness;
}

/** What is under way or waits at one endpoint with one model. */
export interface QueueJson extends PlaceJson {
  readonly waiting: number;
  readonly waitingSince?: number;
  /** How many of those that wait have no program any more. */
  readonly left: number;
  /** Out as ordinary calls. */
  readonly sent: number;
  readonly owners: readonly OwnerInfo[];
  readonly batches: readonly BatchJson[];
  /** How long half of the past batches of this model took, in milliseconds. */
  readonly usual?: number;
}

/** What is in the way of programs that run, and what they do about it, in their words. */
export interface TroubleJson {
  readonly text: string;
  readonly owners: readonly OwnerInfo[];
}

export interface NowJson {
  readonly at: number;
  readonly troubles: readonly TroubleJson[];
  readonly queues: readonly QueueJson[];
  /** More wait than were counted. */
  readonly isMore: boolean;
  /** More batches are open than those of the queues: these are the newest. */
  readonly hasOlder: boolean;
  /** What has come to its end last. */
  readonly recent: readonly BatchJson[];
}

export interface BatchesJson {
  readonly at: number;
  readonly batches: readonly BatchJson[];
  readonly next?: number;
}

export type ModelsJson = readonly { readonly provider: string; readonly model: string }[];

export interface BatchDetailJson {
  readonly at: number;
  readonly batch: BatchJson;
  readonly members: {
    readonly waiting: number;
    readonly answered: number;
    readonly failed: number;
  };
  readonly usual?: number;
}

export interface MemberJson {
  readonly request: number;
  /** Its id in the batch. */
  readonly id: string;
  readonly occurrence: number;
  readonly state: string;
  readonly attempt: number;
  /** When it came into this state. `at`, at the top of an answer, is what the clock of the server says. */
  readonly since: number;
  readonly status?: number;
  /** How the last message of the question begins, where the ledger keeps it. */
  readonly asked?: string;
  /** How the answer begins, or what the error says. */
  readonly excerpt?: string;
}

export interface MembersJson {
  readonly members: readonly MemberJson[];
  readonly next?: number;
}

export interface TextJson {
  readonly text: string;
  /** How many characters there are, if not all of them are here. */
  readonly whole?: number;
}

export interface RequestJson extends MemberJson, PlaceJson {
  readonly generation: number;
  readonly batch?: Pick<BatchJson, 'id' | 'name' | 'tags'>;
  readonly question?: TextJson;
  readonly answer?: TextJson & Pick<Answer, 'status' | 'headers'>;
  readonly samples: readonly MemberJson[];
}

export interface FailureJson {
  readonly status: number;
  readonly message: string;
  readonly count: number;
  readonly newest: number;
  readonly oldest: number;
  readonly models: readonly string[];
  readonly advice: string;
  readonly example: { readonly request: number; readonly id: string };
}

export interface FailuresJson {
  readonly at: number;
  readonly groups: readonly FailureJson[];
  /** How many failed requests were looked at; there may be older ones if `isMore`. */
  readonly looked: number;
  readonly isMore: boolean;
  readonly batches: readonly (BatchJson & { readonly advice: string })[];
}

export interface FoundJson extends MemberJson {
  readonly provider: string;
  readonly model: string;
  readonly batch?: string;
  readonly where: 'question' | 'answer';
  /** The text around the first word that was found, and where that stands in it. */
  readonly around: string;
}

export interface SearchJson {
  readonly found: readonly FoundJson[];
  readonly looked: number;
  /** Bodies of questions are kept in this ledger. */
  readonly hasQuestions: boolean;
  readonly next?: number;
}

export interface CostRowJson extends Omit<CostRow, CostDimension> {
  /** What the row is about: a day, a model, a name … */
  readonly label: string;
}

export interface MoneyJson {
  readonly at: number;
  /** The first day, `2026-11-18`, of UTC. */
  readonly since: string;
  readonly until: string;
  readonly total?: CostRowJson;
  /** Days on which something was paid, in their order. */
  readonly days: readonly CostRowJson[];
  readonly rows: readonly CostRowJson[];
  readonly lanes: readonly CostRowJson[];
}

export interface DoneJson {
  readonly text: string;
  readonly failed: boolean;
}
