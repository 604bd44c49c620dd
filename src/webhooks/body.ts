/** The data of a delivery: what the receiver is told about a scan. */
export interface ScanNotice {
  /** `whd_…`: the scan's id with another prefix. */
  id: string;
  code: string;
  scanned_at: Date;
  country: string;
  city: string;
  device: string;
  is_unique: boolean;
}

/** The event of a scan, as documented in the API. */
export const eventOf = ({ id, code, scanned_at, country, city, device, is_unique }: ScanNotice) => ({
  event: 'scan.created' as const,
  timestamp: scanned_at.toISOString(),
  data: { qr_id: code, scan_id: `scan_${id.slice('whd_'.length)}`, country, city, device, is_unique },
});

/** The request body, identical on every attempt. */
export const bodyOf = (notice: ScanNotice): string => JSON.stringify(eventOf(notice));
