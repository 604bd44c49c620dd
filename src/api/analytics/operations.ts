import { timeouts } from '../../lib/timeouts.ts';
import type { Operation } from '../http/operation.ts';
import type { Service } from '../service.ts';
import { aggregateOperation } from './aggregate.ts';
import { destinationsOperation } from './destinations.ts';
import { exportOperations } from './export.ts';
import { heatMapOperations } from './heatmap.ts';
import { codesOperation } from './qrcodes.ts';
import { scansOperations } from './scans.ts';
import { summaryOperations } from './summary.ts';
import { timeSeriesOperations } from './timeseries.ts';

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
