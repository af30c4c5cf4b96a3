import type pg from 'pg';
import { BatchlingError } from '../../../base/errors.ts';

export type Driver = typeof pg;
export type { Client, ClientConfig, Pool, PoolClient } from 'pg';

/** The driver is an optional peer: most programs use a file, and need no server's driver. */
export async function loadDriver(): Promise<Driver> {
  try {
    const { default: driver } = await import('pg');
    return driver;
  } catch (cause) {
    throw new BatchlingError(
      'NOT_AVAILABLE',
      'A ledger in PostgreSQL needs the package pg: npm install pg',
      { cause },
    );
  }
}

const INT8 = 20;

/** Ids and moments are 64-bit integers, which the driver gives as text; ours fit into a number. */
export function numbersAsNumbers(driver: Driver) {
  return {
    getTypeParser(oid: number, format?: 'text' | 'binary') {
      return oid === INT8 && format !== 'binary' ? Number : driver.types.getTypeParser(oid, format);
    },
  };
}

/** The values of a statement. Texts may have every character but the one of code zero, which is replaced. */
export function storable(values: readonly unknown[]): unknown[] {
  return values.map((value) =>
    typeof value === 'string' ? value.replaceAll('\0', '\uFFFD') : value,
  );
}
