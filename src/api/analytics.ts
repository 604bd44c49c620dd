import { timeouts } from '../lib/timeouts.ts';
import { aggregateOperation } from './analytics/aggregate.ts';
import { destinationsOperation } from './analytics/destinations.ts';
import { exportOperations } from './analytics/export.ts';
import { heatMapOperations } from './analytics/heatmap.ts';
import { codesOperation } from './analytics/qrcodes.ts';
import { scansOperations } from './analytics/scans.ts';
import { summaryOperations } from './analytics/summary.ts';
import { timeSeriesOperations } from './analytics/timeseries.ts';
import type { Operation } from './operation.ts';
import type { Service } from './service.ts';

/** The read timeout of the warehouse, plus 2 s to answer that it has expired. */

/** All operations that read from the warehouse. */
export const analyticsOperations = (service: Service): Operation[] =>
  [
    ...summaryOperations(service),
    ...scansOperations(service),
    ...timeSeriesOperations(service),
    ...heatMapOperations(service),
    destinationsOperation(service),
    ...exportOperations(service),
    aggregateOperation(service),
    codesOperation(service),
  ].map((operation) => ({ ...operation, answerWithinMs: timeouts.analyticsReadMs + 2_000 }));
