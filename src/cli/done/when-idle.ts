import type { Gateway } from '../../gateway/gateway.ts';
import { exitCodes } from '../exit-codes.ts';
import { doneSummary, statsSince, statsText } from './done-summary.ts';
import { runOnDone } from './on-done.ts';

/** Runs the command whenever the gateway has answered calls, and then had none for `idle` milliseconds. */
export function tellWhenIdle(gateway: Gateway, command: string, idle: number): void {
  let told = gateway.progress().stats;
  let toldAt = performance.now();
  let before = told;
  // Stats change with every call, so that two looks which see the same have seen nothing happen in between.
  const look = async () => {
    const { waiting, stats } = gateway.progress();
    const isQuiet = waiting === 0 && stats.captured === before.captured;
    before = stats;
    if (isQuiet && stats.answered > told.answered) {
      const done = statsSince(told, stats);
      const milliseconds = Math.round(performance.now() - toldAt);
      [told, toldAt] = [stats, performance.now()];
      const summary = {
        command: 'serve' as const,
        exitCode: exitCodes.fine,
        milliseconds,
        stats: done,
      };
      await runOnDone(command, doneSummary(summary, undefined, statsText(done)));
    }
    setTimeout(look, idle).unref();
  };
  setTimeout(look, idle).unref();
}
