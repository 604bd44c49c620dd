import type { Mode } from './plans.ts';

/** A scan as the edge records it. */
export interface Scan {
  id: string;
  code: string;
  account: string;
  mode: Mode;
  occurred_at: Date;
  country: string;
  region: string;
  city: string;
  device: string;
  browser: string;
  is_bot: boolean;
  /** The visitor hash: 16 bytes in hex. */
  visitor: string;
  revision: number;
  /** The id of the rule that led it to where it went, or of the fallback; undefined if it took none. */
  rule?: string | undefined;
  /** The id of the variant of that rule's split. */
  variant?: string | undefined;
}

/** A scan with its position in the log; the append also decides whether its visitor is new. */
export interface RecordedScan extends Scan {
  type: 'code_scanned';
  position: number;
  is_unique: boolean;
}
