import { type Static, Type } from '@sinclair/typebox';
import { oneOf } from './one-of.ts';
import type { RecordedScan } from './scan.ts';
import { isFallback } from './targeting/resolver.ts';
import { browsers, devices } from './targeting/targeting-words.ts';

const exact = { additionalProperties: false };
const orNull = (description: string, example: string) =>
  Type.Union([Type.String(), Type.Null()], { description, examples: [example] });

/** A scan as clients of the API see it: no visitor hash, no revision. */
export const ScanRecord = Type.Object(
  {
    id: Type.String({ description: 'Identifier of the scan.', examples: ['scan_0VMNcq2hE3kx0dTtWq8LbY'] }),
    timestamp: Type.String({
      format: 'date-time',
      description: 'When the scan happened.',
      examples: ['2026-03-01T09:30:00.000Z'],
    }),
    country: Type.String({ description: 'ISO 3166-1 alpha-2 code; `XX` if unknown.', examples: ['DE'] }),
    region: Type.String({ description: 'English name; `Unknown` if unknown.', examples: ['Land Berlin'] }),
    city: Type.String({ description: 'English name; `Unknown` if unknown.', examples: ['Berlin'] }),
    device: oneOf(devices),
    browser: oneOf(browsers),
    is_unique: Type.Boolean({ description: 'Whether this is the first scan of the code by this visitor.' }),
    is_bot: Type.Boolean({ description: 'Whether the scan was made by a bot.', examples: [false] }),
    rule: orNull(
      'Id of the rule that led the scan; null for the destination of the code, and for the fallback.',
      'r7dKm2VbNcXz',
    ),
    variant: orNull('Id of the variant of the split; null without one.', 'v3hXb9TkPqRw'),
  },
  exact,
);

/** A scan of any code of the account. */
export const OwnedScanRecord = Type.Object(
  {
    qr_id: Type.String({ description: 'Identifier of the code.', examples: ['qr_0VMNcq2hE3kx0dTtWq8LbY'] }),
    ...ScanRecord.properties,
  },
  exact,
);

export const scanRecordOf = (scan: RecordedScan): Static<typeof OwnedScanRecord> => ({
  qr_id: scan.code,
  id: scan.id,
  timestamp: scan.occurred_at.toISOString(),
  country: scan.country,
  region: scan.region,
  city: scan.city,
  device: scan.device as (typeof devices)[number],
  browser: scan.browser as (typeof browsers)[number],
  is_unique: scan.is_unique,
  is_bot: scan.is_bot,
  rule: scan.rule === undefined || isFallback(scan.rule) ? null : scan.rule,
  variant: scan.variant ?? null,
});
