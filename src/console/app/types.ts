import type { Static } from '@sinclair/typebox';
import type * as analytics from '../../api/analytics/schemas.ts';
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

export type Summary = Static<typeof analytics.Summary>;
export type Aggregate = Static<typeof analytics.Aggregate>;
export type TimeSeries = Static<typeof analytics.TimeSeries>;
export type Destinations = Static<typeof analytics.Destinations>;
export type ScanRecord = Static<typeof analytics.ScanRecord>;

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
