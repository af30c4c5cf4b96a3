import { initial } from './0001-initial.ts';
import type { Migration } from './migration.ts';

export const migrations: readonly Migration[] = [initial];
