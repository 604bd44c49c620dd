import { defaultLanguage } from '../../../events/languages.ts';
import { periodAt, periodBefore } from '../../../events/report-periods.ts';
import { refuseInvalid } from '../../lib/errors.ts';
import type { Renderer } from '../../render/renderer.ts';
import { fileNameOf } from '../../reports/report.ts';
import { type Operation, operation } from '../http/operation.ts';
import { choiceErrors, choiceOf } from '../http/shared-fields.ts';
import type { Service } from '../service.ts';
import { readReport } from './figures.ts';
import { languageErrors, readZone } from './requests.ts';
import { PreviewQuery } from './schemas.ts';

/** The operation that makes a report at once, without storing or mailing it. */
export const previewOperation = (service: Service, renderer: Renderer): Operation =>
  operation({
    operationId: 'previewReport',
    method: 'GET',
    path: '/v1/reports/preview.pdf',
    tag: 'Reports',
    summary: 'Preview a report',
    description:
      'The PDF file of the last period that has ended, as it would be mailed. It is about the codes in `qr_ids` or with one of the `tags`, each repeated for several. Nothing is stored or mailed.',
    query: PreviewQuery,
    success: { status: 200, description: 'The report.', files: ['application/pdf'] },
    errors: ['invalid_request'],
    async handle({ caller, query, signal }) {
      const now = service.clock();
      const { name = 'Preview', every = 'month', language = defaultLanguage } = query;
      const timezone = await readZone(service, caller, query.timezone);
      refuseInvalid([
        ...languageErrors({ format: 'pdf', language }),
        ...(await choiceErrors(service.sql, caller, query)),
      ]);
      const period = periodBefore(periodAt(now, every, timezone), every);
      const { account, mode } = caller;
      const content = await readReport(
        service,
        { account, mode, name: name.trim(), every, timezone, language, ...choiceOf(query) },
        period,
      );
      const body = await renderer.run('report', () => content, { account, signal });
      return {
        status: 200,
        body,
        headers: {
          'content-type': 'application/pdf',
          'content-disposition': `inline; filename="${fileNameOf(content, 'pdf')}"`,
        },
      };
    },
  });
