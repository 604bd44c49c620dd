import type { Addresses } from '../config.ts';
import type { Clock } from '../lib/clock.ts';
import type { Sql } from '../log/connect.ts';

/** What operations work with. */
export interface Service {
  sql: Sql;
  clock: Clock;
  addresses: Addresses;
}
