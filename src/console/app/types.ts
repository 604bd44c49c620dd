import type { Static } from '@sinclair/typebox';
import type * as schemas from '../../api/schemas.ts';

/** What the service answers with, as its own schemas say. */
export type QrCode = Static<typeof schemas.QrCode>;
export type ListedQrCode = Static<typeof schemas.ListedQrCode>;
export type CreatedQrCode = Static<typeof schemas.CreatedQrCode>;
export type HistoryEntry = Static<typeof schemas.HistoryEntry>;
export type Account = Static<typeof schemas.Account>;
export type ApiKey = Static<typeof schemas.ApiKey>;
export type CreatedApiKey = Static<typeof schemas.CreatedApiKey>;

export interface Page<T> {
  data: T[];
  pagination: { page: number; limit: number; total: number; total_pages: number };
}

export interface Summary {
  qr_id: string;
  period: { start: string; end: string };
  summary: { total_scans: number; unique_visitors: number; avg_daily_scans: number };
  top_countries: { country: string; scans: number }[];
  top_cities: { city: string; country: string; scans: number }[];
  devices: Record<string, number>;
  browsers: Record<string, number>;
}

export interface Aggregate {
  summary: Summary['summary'] & { total_qrcodes: number; active_qrcodes: number };
  top_qrcodes: { qr_id: string; name: string; scans: number }[];
  top_countries: Summary['top_countries'];
}

export interface TimeSeries {
  interval: string;
  data: { date: string; total_scans: number; unique_visitors: number }[];
}

export interface Destinations {
  period: { start: string; end: string };
  data: { destination_url: string; from: string; to: string | null; total_scans: number; unique_visitors: number }[];
}

export interface ScanRecord {
  id: string;
  timestamp: string;
  country: string;
  region: string;
  city: string;
  device: string;
  browser: string;
  is_unique: boolean;
  is_bot: boolean;
}

export interface Webhook {
  url: string;
  status: 'enabled' | 'disabled';
  disabled_reason: 'gone' | 'failing' | null;
  failing_since: string | null;
  secret: string;
  old_secret_valid_until: string | null;
}

/** What came back. */
export interface Attempt {
  status_code: number | null;
  duration_ms: number;
  response: string | null;
  error: string | null;
}

export interface Delivery {
  id: string;
  status: 'pending' | 'delivered' | 'failed';
  body: { data: { qr_id: string; country: string; city: string } };
  attempts: (Attempt & { timestamp: string })[];
  error: string | null;
  next_attempt_at: string | null;
  created_at: string;
}
