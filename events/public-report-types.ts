import { define } from './public-type.ts';
import { publicReport } from './report.ts';
import { withQrIds } from './settings-change.ts';

/** What the owner of an account sees of the reports that it mails. */
export const publicReportTypes = {
  'report.created': define({
    summary: 'A report was set up, which is mailed every week or month.',
    entries: ['report_created'],
    data: publicReport.created,
    dataOf: ({ data: { report, codes, ...data } }) => ({ report_id: report, qr_ids: codes, ...data }),
  }),
  'report.changed': define({
    summary: 'Settings of a report changed; `from` and `to` have only those. `recipients` is the number of addresses.',
    entries: ['report_changed'],
    data: publicReport.changed,
    dataOf: ({ data: { report, mode, from, to } }) => ({
      report_id: report,
      mode,
      from: withQrIds(from),
      to: withQrIds(to),
    }),
  }),
  'report.removed': define({
    summary: 'A report was removed, and is mailed no more.',
    entries: ['report_removed'],
    data: publicReport.removed,
    dataOf: ({ data: { report, mode } }) => ({ report_id: report, mode }),
  }),
};
