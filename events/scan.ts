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
}

/** A scan with its position in the log; the append also decides whether its visitor is new. */
export interface RecordedScan extends Scan {
  type: 'code_scanned';
  position: number;
  is_unique: boolean;
}
