import type { Static } from '@sinclair/typebox';
import { defaultLanguage } from '../../../events/languages.ts';
import {
  createReport,
  listReports,
  maxReports,
  type NewReport as NewReportSettings,
  type OwnedReport,
  removeReport,
  requireReport,
  updateReport,
} from '../../accounts/reports.ts';
import { refuseInvalid } from '../../lib/errors.ts';
import type { Renderer } from '../../render/renderer.ts';
import { languageNamed } from '../../texts/in-language.ts';
import { type Operation, operation } from '../http/operation.ts';
import { json } from '../http/responses.ts';
import { Deleted } from '../http/schemas.ts';
import { addressesOf, choiceErrors, choiceOf, nameAndAddressErrors, presentRecipients } from '../http/shared-fields.ts';
import type { Service } from '../service.ts';
import { previewOperation } from './preview.ts';
import { languageErrors, readZone } from './requests.ts';
import { NewReport, Report, ReportChange, Reports } from './schemas.ts';

const tag = 'Reports';
const params = { id: 'Identifier of the report, `rpt_…`.' };

/** Operations on reports that are mailed every week or month. */
export const reportOperations = (service: Service, renderer: Renderer): Operation[] => [
  createOperation(service),
  listOperation(service),
  previewOperation(service, renderer),
  getOperation(service),
  updateOperation(service),
  deleteOperation(service),
];

const createOperation = (service: Service): Operation =>
  operation({
    operationId: 'createReport',
    method: 'POST',
    path: '/v1/reports',
    tag,
    summary: 'Create a report',
    description: `Mails the statistics of the codes in \`qr_ids\` or with one of the \`tags\` once for each week or month, first after the present one. An account can have ${maxReports} in each mode.`,
    body: NewReport,
    success: { status: 201, description: 'The new report.', schema: Report },
    errors: ['invalid_request', 'quota_exceeded', 'conflict'],
    async handle({ caller, body }) {
      const { format = 'pdf', language = defaultLanguage } = body;
      refuseInvalid([
        ...nameAndAddressErrors(body),
        ...languageErrors({ format, language }),
        ...(await choiceErrors(service.sql, caller, body)),
      ]);
      const request: NewReportSettings = {
        name: body.name.trim(),
        every: body.every,
        timezone: await readZone(service, caller, body.timezone),
        format,
        language,
        ...choiceOf(body),
        to: addressesOf(body.to),
      };
      const by = { actor: caller.actor, now: service.clock() };
      return json(201, present(service, await createReport(service.sql, caller, request, by)));
    },
  });

const listOperation = (service: Service): Operation =>
  operation({
    operationId: 'listReports',
    method: 'GET',
    path: '/v1/reports',
    tag,
    summary: 'List reports',
    description: 'All reports that were not removed, newest first.',
    success: { status: 200, description: 'The reports.', schema: Reports },
    errors: [],
    async handle({ caller }) {
      const reports = await listReports(service.sql, caller);
      const data = reports.map((report) => present(service, report));
      return json(200, { data, is_mailed: service.mail !== undefined });
    },
  });

const getOperation = (service: Service): Operation =>
  operation({
    operationId: 'getReport',
    method: 'GET',
    path: '/v1/reports/:id',
    tag,
    summary: 'Get a report',
    description: 'Its settings, whom it is mailed to, and when.',
    params,
    success: { status: 200, description: 'The report.', schema: Report },
    errors: ['not_found'],
    async handle({ caller, params: { id = '' } }) {
      return json(200, present(service, await requireReport(service.sql, caller, id)));
    },
  });

const updateOperation = (service: Service): Operation =>
  operation({
    operationId: 'updateReport',
    method: 'PATCH',
    path: '/v1/reports/:id',
    tag,
    summary: 'Change a report',
    description:
      'Works from the next mail on. `to` replaces all addresses; those who have unsubscribed stay unsubscribed. Another `every` begins with the present period.',
    params,
    body: ReportChange,
    success: { status: 200, description: 'The report after the change.', schema: Report },
    errors: ['invalid_request', 'not_found', 'conflict'],
    async handle({ caller, params: { id = '' }, body }) {
      const { name, timezone, to, qr_ids, tags, ...others } = body;
      const hasChoice = qr_ids !== undefined || tags !== undefined;
      const before = await requireReport(service.sql, caller, id);
      const wrongChoice = hasChoice ? await choiceErrors(service.sql, caller, body, before) : [];
      const { format = before.format, language = before.language } = body;
      refuseInvalid([...nameAndAddressErrors(body), ...languageErrors({ format, language }), ...wrongChoice]);
      const change = {
        ...others,
        ...(name === undefined ? {} : { name: name.trim() }),
        ...(timezone === undefined ? {} : { timezone: await readZone(service, caller, timezone) }),
        ...(hasChoice ? choiceOf(body) : {}),
        ...(to === undefined ? {} : { to: addressesOf(to) }),
      };
      const by = { actor: caller.actor, now: service.clock() };
      return json(200, present(service, await updateReport(service.sql, caller, id, change, by)));
    },
  });

const deleteOperation = (service: Service): Operation =>
  operation({
    operationId: 'deleteReport',
    method: 'DELETE',
    path: '/v1/reports/:id',
    tag,
    summary: 'Remove a report',
    description: 'It is mailed no more; mails that wait are dropped.',
    params,
    success: { status: 200, description: 'The report was removed.', schema: Deleted },
    errors: ['not_found', 'conflict'],
    async handle({ caller, params: { id = '' } }) {
      await removeReport(service.sql, caller, id, { actor: caller.actor, now: service.clock() });
      return json(200, { deleted: true, id });
    },
  });

function present({ mail }: Service, report: OwnedReport): Static<typeof Report> {
  const { id, name, every, timezone, format, language, codes, tags } = report;
  return {
    id,
    name,
    every,
    timezone,
    format,
    language: languageNamed(language),
    qr_ids: codes,
    tags,
    ...presentRecipients(report),
    is_mailed: mail !== undefined,
    next_at: report.due_at?.toISOString() ?? null,
    last_at: report.sent_at?.toISOString() ?? null,
    created_at: report.created_at.toISOString(),
  };
}
