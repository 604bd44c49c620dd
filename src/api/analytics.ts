import { readTimeoutMs } from '../analytics/reading.ts';
import { aggregateOperation } from './analytics/aggregate.ts';
import { destinationsOperation } from './analytics/destinations.ts';
import { exportOperation } from './analytics/export.ts';
import { scansOperation } from './analytics/scans.ts';
import { summaryOperations } from './analytics/summary.ts';
import { timeSeriesOperation } from './analytics/timeseries.ts';
import type { Operation } from './operation.ts';
import type { Service } from './service.ts';

/** The read timeout of the warehouse, plus 2 s to answer that it has expired. */
const answerWithinMs = readTimeoutMs + 2_000;

/** All operations that read from the warehouse. */
export const analyticsOperations = (service: Service): Operation[] =>
  [
    ...summaryOperations(service),
    scansOperation(service),
    timeSeriesOperation(service),
    destinationsOperation(service),
    exportOperation(service),
    aggregateOperation(service),
  ].map((operation) => ({ ...operation, answerWithinMs }));
