import { Type as t } from '@sinclair/typebox';
import { invalid } from '../../lib/errors.ts';
import { exact } from '../http/schemas.ts';
import type { Operations } from './invoke.ts';
import { fieldOf, fieldsOf, qrId, type Tool, tool } from './tool.ts';

/** Tools that count scans. */
export const analyticsTools = (operations: Operations): Tool[] => [analytics(operations), compare(operations)];

const filters = ['start_date', 'end_date', 'timezone', 'bots', 'country', 'city', 'device', 'browser', 'compare'];

/** About 20 kB of text: a model reads longer lists badly. */
const maxBuckets = 400;

const analytics = (operations: Operations): Tool =>
  tool({
    name: 'analytics',
    title: 'Count scans',
    description:
      'Counts scans and visitors in a period, with countries, cities, devices and browsers: of one code with qr_id, otherwise of all codes of the account or of those with a tag, with the most scanned codes. Default period: the last 30 days. compare adds the same figures for an earlier period. interval adds the number of scans for each hour, day, week or month.',
    input: t.Object(
      {
        qr_id: t.Optional(qrId),
        ...fieldsOf(operations, 'getAggregateAnalytics', 'query', [...filters, 'tag', 'tag_match', 'domain']),
        interval: t.Optional(intervalOf(operations)),
      },
      exact,
    ),
    scope: 'analytics.read',
    effect: 'reads',
    async run({ input: { qr_id, interval, ...query }, invoke }) {
      const params = { id: qr_id ?? '' };
      const [summary, series] =
        qr_id === undefined
          ? (['getAggregateAnalytics', 'getAccountTimeSeries'] as const)
          : (['getAnalyticsSummary', 'getTimeSeries'] as const);
      const figures = await invoke.json<Record<string, unknown>>(summary, { params, query });
      if (interval === undefined) return { value: figures };
      const { data } = await invoke.json<{ data: unknown[] }>(series, { params, query: { ...query, interval } });
      if (data.length > maxBuckets)
        throw invalid([
          {
            field: 'interval',
            message: `interval ${interval} makes ${data.length} values of this period, more than ${maxBuckets}: choose a longer interval or a shorter period.`,
          },
        ]);
      return { value: { ...figures, interval, scans_over_time: data } };
    },
  });

/** Without its default: the time series is only read if the caller asks for it. */
function intervalOf(operations: Operations) {
  const { default: _, ...schema } = fieldOf(operations, 'getTimeSeries', 'query', 'interval');
  return t.Unsafe<string>(schema);
}

const compare = (operations: Operations): Tool =>
  tool({
    name: 'compare',
    title: 'Compare QR codes',
    description:
      'Scans and visitors of several codes side by side, most scans first: the codes in qr_ids, those without scans last, or else all codes that were scanned in the period. Default period: the last 30 days. compare adds the figures of an earlier period for each code.',
    input: t.Object(
      {
        qr_ids: t.Optional(
          t.Array(qrId, { minItems: 1, maxItems: 100, description: 'Up to 100 codes. Default: all codes.' }),
        ),
        ...fieldsOf(operations, 'listCodeAnalytics', 'query', [...filters, 'tag', 'tag_match', 'page', 'limit']),
      },
      exact,
    ),
    scope: 'analytics.read',
    effect: 'reads',
    async run({ input: { qr_ids, ...query }, invoke }) {
      return { value: await invoke.json('listCodeAnalytics', { query: { ...query, qr_id: qr_ids } }) };
    },
  });
