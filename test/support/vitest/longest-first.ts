import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take more than about ten seconds, the longest first. One that starts last runs alone to the end. */
const longest = [
  'test/guarantees/guarantees.test.ts',
  'test/crash/re-run.test.ts',
  'test/property/program.test.ts',
  'test/memory/import-cost.test.ts',
  'test/behaviour/ledger/resumed-room.test.ts',
  'test/cli/leaving/leaving-detach.test.ts',
  'test/cli/config.test.ts',
  'test/behaviour/display/examples.test.ts',
  'test/cli/display.test.ts',
  'test/cli/examples.test.ts',
  'test/crash/network.test.ts',
  'test/crash/processes.test.ts',
  'test/crash/commits.test.ts',
  'test/cli/leaving/leaving-interrupts.test.ts',
  'test/providers/xai.test.ts',
  'test/cli/ledger/ledger-collect.test.ts',
  'test/cli/run.test.ts',
  'test/crash/bad-disks.test.ts',
  'test/behaviour/display/terminal.test.ts',
  'test/behaviour/providers/adding-a-provider.test.ts',
];

/** Starts long files early, and those that share a process last: they are short, and end at about the same time. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => sharing(a) - sharing(b) || placeOf(a) - placeOf(b));
  }
}

function sharing({ project }: TestSpecification): number {
  return project.config.isolate ? 0 : 1;
}

function placeOf({ moduleId }: TestSpecification): number {
  const place = longest.findIndex((name) => moduleId.endsWith(`/${name}`));
  return place < 0 ? longest.length : place;
}
