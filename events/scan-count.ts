/** Scans of one code. */
export interface ScanCount {
  total: number;
  unique: number;
}

/** By code. */
export type ScanCounts = Map<string, ScanCount>;
