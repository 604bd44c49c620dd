import type { CodeEvent } from '../../events/code.ts';
import type { Recorded } from '../../events/recorded.ts';
import type { Addresses } from '../config.ts';
import type { Clock } from '../lib/clock.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { Sql } from '../log/connect.ts';
import type { Warehouse } from '../warehouse/connect.ts';
import type { Policy } from '../webhooks/destination.ts';
import type { Send } from '../webhooks/send.ts';

/** What operations work with. */
export interface Service {
  sql: Sql;
  warehouse: Warehouse;
  clock: Clock;
  addresses: Addresses;
  /** Test codes that an account may have. */
  maxTestCodes: number;
  webhooks: { box: SecretBox; policy: Policy; send: Send };
  /** Told of every change of a code once it is committed; the answer waits until the short links follow it. */
  onChange(events: Recorded<CodeEvent>[]): Promise<void>;
}
