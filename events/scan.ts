import type { Mode } from './plans.ts';

/** A scan as the edge saw it. */
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
  /** 16 bytes, hex. */
  visitor: string;
  revision: number;
}

/** A scan with its place in the log. There, too, it was decided whether its visitor is new. */
export interface RecordedScan extends Scan {
  type: 'code_scanned';
  position: number;
  is_unique: boolean;
}
