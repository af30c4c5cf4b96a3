import { answers } from './answers.ts';
import { commands } from './commands.ts';
import { gateway } from './gateway.ts';
import { isolation } from './isolation.ts';
import { ledgers } from './ledgers.ts';
import { liveness } from './liveness.ts';
import type { Mutant } from './mutant.ts';
import { payment } from './payment.ts';
import { secrets } from './secrets.ts';

export type { Mutant } from './mutant.ts';

export const mutants: readonly Mutant[] = [
  ...answers,
  ...payment,
  ...liveness,
  ...ledgers,
  ...commands,
  ...secrets,
  ...isolation,
  ...gateway,
];
