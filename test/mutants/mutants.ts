import { answers } from './answers.ts';
import { gateway } from './gateway.ts';
import { isolation } from './isolation.ts';
import { liveness } from './liveness.ts';
import type { Mutant } from './mutant.ts';
import { payment } from './payment.ts';
import { secrets } from './secrets.ts';

export type { Mutant } from './mutant.ts';

export const mutants: readonly Mutant[] = [
  ...answers,
  ...payment,
  ...liveness,
  ...secrets,
  ...isolation,
  ...gateway,
];
