import { readTimeoutMs } from '../warehouse/reading.ts';
import { aggregateOperation } from './analytics/aggregate.ts';
import { destinationsOperation } from './analytics/destinations.ts';
import { exportOperation } from './analytics/export.ts';
import { scansOperation } from './analytics/scans.ts';
import { summaryOperations } from './analytics/summary.ts';
import { timeSeriesOperation } from './analytics/timeseries.ts';
import type { Operation } from './operation.ts';
import type { Service } from './service.ts';

/** The warehouse has its time, and a little is left to say that it was not enough. */
const answerWithinMs = readTimeoutMs + 2_000;

/** Everything that is read from the warehouse. */
export const analyticsOperations = (service: Service): Operation[] =>
  [
    ...summaryOperations(service),
    scansOperation(service),
    timeSeriesOperation(service),
    destinationsOperation(service),
    exportOperation(service),
    aggregateOperation(service),
  ].map((operation) => ({ ...operation, answerWithinMs }));
