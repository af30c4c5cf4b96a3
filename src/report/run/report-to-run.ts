import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { reportVariable } from '../../base/run-variables.ts';
import { ReportFile } from './report-file.ts';
import type { RunMessage } from './run-message.ts';

let numbersOf: () => RunMessage | undefined = () => undefined;
let file: ReportFile | undefined;

/** Whether a parent shows what this process does. */
export function hasRunParent(): boolean {
  return (process.env[reportVariable] ?? '') !== '';
}

/** The file of this thread; `undefined` where no parent reads it. */
export function reportFile(): ReportFile | undefined {
  const folder = process.env[reportVariable];
  if (folder === undefined || folder === '') return undefined;
  const name = `${process.pid}-${threadId}-${crypto.randomUUID().slice(0, 8)}.ndjson`;
  file ??= new ReportFile(join(folder, name), () => numbersOf());
  return file;
}

/** The function is asked for the numbers of this process whenever something is sent. */
export function reportNumbers(numbers: () => RunMessage | undefined): void {
  numbersOf = numbers;
}

/** Tells the parent of the run, before this returns. Does nothing without a parent. */
export function reportToRun(message: RunMessage): void {
  const target = reportFile();
  target?.send(message);
  target?.flush();
}
