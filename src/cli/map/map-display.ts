import type { CheckedFacts, Progress } from '../../map/job/job-state.ts';
import type { JobCounts } from '../../map/job/run-job.ts';
import type { DisplayMode } from '../../report/display.ts';
import { possibleMode } from '../../report/display-mode.ts';
import {
  type LineOutput,
  labelColumns,
  liveOutput,
  plainOutput,
} from '../../report/terminal/line-output.ts';
import { ageText, counted, dollars, number } from '../../report/text/summary.ts';

const plainInterval = 10_000;
/** With fewer columns the word is left out that says what is counted. */
const narrow = 60;

/** What is shown of a job. */
export interface ShownFacts extends Readonly<Omit<JobCounts, 'maybePaidTwice'>> {
  readonly lines: number;
  readonly done: number;
  readonly failed: number;
  readonly perMinute: number;
  /** Milliseconds until the end, at this rate. */
  readonly left: number | undefined;
}

/** How far a job is, on stderr. */
export class MapDisplay {
  readonly mode: DisplayMode;
  readonly #output: LineOutput;
  #timer: NodeJS.Timeout | undefined;
  #startedAt = Date.now();
  /** Lines that an earlier run has done. */
  #doneBefore = 0;

  constructor(asked: DisplayMode | undefined) {
    this.mode = possibleMode(asked, process.stderr);
    this.#output = this.mode === 'live' ? liveOutput(process.stderr) : plainOutput(process.stderr);
  }

  tell(...lines: string[]): void {
    if (this.mode === 'none') return;
    if (this.mode === 'json') for (const text of lines) this.#json('note', { text });
    else this.#output.print(...lines);
  }

  begin(counts: Readonly<JobCounts>, progress: () => Progress, checked: CheckedFacts): void {
    const before = progress();
    this.#startedAt = Date.now();
    this.#doneBefore = before.done + before.failed;
    if (this.mode === 'none') return;
    const show = () => this.#facts(counts, progress(), checked);
    if (this.mode === 'live') {
      this.#output.draw?.((columns) => [jobLine(show(), columns - labelColumns)]);
      return;
    }
    this.#timer = setInterval(() => {
      if (this.mode === 'json') this.#json('progress', show());
      else this.#output.print(jobLine(show()));
    }, plainInterval);
  }

  end(): void {
    clearInterval(this.#timer);
    this.#output.clear?.();
  }

  /** A line for machines. */
  json(event: string, facts: object): void {
    if (this.mode === 'json') this.#json(event, facts);
  }

  #facts(
    counts: Readonly<JobCounts>,
    { done, failed }: Progress,
    { selected }: CheckedFacts,
  ): ShownFacts {
    const minutes = (Date.now() - this.#startedAt) / 60_000;
    const finished = done + failed;
    const perMinute = minutes > 0 ? Math.round((finished - this.#doneBefore) / minutes) : 0;
    const left = perMinute > 0 ? ((selected - finished) / perMinute) * 60_000 : undefined;
    const { read, sent, paid, saved } = counts;
    return { lines: selected, read, sent, done, failed, perMinute, left, paid, saved };
  }

  #json(event: string, facts: object): void {
    process.stderr.write(`${JSON.stringify({ event, ...facts })}\n`);
  }
}

/** How far a job is. Where it is narrow, what counts least is left out. */
export function jobLine(facts: ShownFacts, columns = Number.POSITIVE_INFINITY): string {
  const { lines, read, sent, done, failed, perMinute, left, paid, saved } = facts;
  const all = columns < narrow ? number(lines) : counted(lines, 'line');
  const far = `${number(done)} of ${all} done`;
  const errors = failed > 0 ? `${number(failed)} failed` : '';
  const seen = `${number(read)} read`;
  const gone = `${number(sent)} sent`;
  const rate = perMinute > 0 ? `${number(perMinute)} a minute` : '';
  const rest = left !== undefined && left > 0 ? `about ${ageText(left)} left` : '';
  const cost = paid > 0 ? `paid ${dollars(paid)}` : '';
  const gain = paid > 0 ? `saved ${dollars(saved)}` : '';
  let kept: readonly string[] = [far];
  for (const part of [rest, gain, errors, cost, gone, rate, seen]) {
    if (part === '') continue;
    const more = [far, errors, seen, gone, rate, rest, cost, gain].filter(
      (one) => one === part || kept.includes(one),
    );
    if (more.join(', ').length <= columns) kept = more;
  }
  return kept.join(', ');
}
