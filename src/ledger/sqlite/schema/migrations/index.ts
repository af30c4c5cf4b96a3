import { initial } from './0001-initial.ts';
import { learntLimits } from './0002-learnt-limits.ts';
import { smallWrites } from './0003-small-writes.ts';
import type { Migration } from './migration.ts';

export const migrations: readonly Migration[] = [initial, learntLimits, smallWrites];
