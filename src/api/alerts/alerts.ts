import { type Static, Type as t } from '@sinclair/typebox';
import type { AlertKind, AlertSettings } from '../../../events/alert.ts';
import { defaultLanguage } from '../../../events/languages.ts';
import type { Owner } from '../../../events/owner.ts';
import {
  countRaised,
  createAlert,
  deleteAlert,
  type ListedRaised,
  listAlerts,
  listRaised,
  maxAlerts,
  type NewAlert as NewAlertSettings,
  type OwnedAlert,
  raisedBy,
  requireAlert,
  updateAlert,
} from '../../alerts/alerts.ts';
import { Refusal, refuseInvalid } from '../../lib/errors.ts';
import { languageNamed } from '../../texts/in-language.ts';
import { type Operation, operation } from '../http/operation.ts';
import { json } from '../http/responses.ts';
import { Deleted, exact } from '../http/schemas.ts';
import { addressesOf, choiceOf, missingCodes, nameAndAddressErrors, presentRecipients } from '../http/shared-fields.ts';
import type { Service } from '../service.ts';
import { Alert, AlertChange, Alerts, defaultPercent, NewAlert, type RaisedAlert, RaisedAlerts } from './schemas.ts';

const tag = 'Alerts';
const params = { id: 'Identifier of the alert, `alr_…`.' };
const maxListed = 100;

/** Operations on alerts. */
export const alertOperations = (service: Service): Operation[] => [
  createOperation(service),
  listOperation(service),
  listRaisedOperation(service),
  getOperation(service),
  updateOperation(service),
  deleteOperation(service),
];

const defaultNames: Record<AlertKind, string> = {
  silent: 'No scans',
  spike: 'Unusually many scans',
  limit_near: 'Limits',
  destination_down: 'Websites that are down',
  domain_failing: 'Domains',
};

const createOperation = (service: Service): Operation =>
  operation({
    operationId: 'createAlert',
    method: 'POST',
    path: '/v1/alerts',
    tag,
    summary: 'Create an alert',
    description: `An alert watches the codes in \`qr_ids\`, those with one of the \`tags\`, or all codes. Whatever it finds is reported once, as an \`alert.raised\` event in the feed and to webhooks, and is then quiet until \`alert.cleared\`. An account can have ${maxAlerts} in each mode.`,
    body: NewAlert,
    success: { status: 201, description: 'The new alert.', schema: Alert },
    errors: ['invalid_request', 'live_key_required', 'quota_exceeded', 'conflict'],
    async handle({ caller, body }) {
      const { kind, percent = defaultPercent, active = true, language = defaultLanguage, to = [] } = body;
      const {
        codes = null,
        tags = null,
        name = defaultNames[kind],
      } = await readSettings(service, caller, body, {
        kind,
        codes: null,
        tags: null,
      });
      if (kind === 'domain_failing' && caller.mode === 'test')
        throw new Refusal('live_key_required', 'Domains belong to live mode: create this alert with a live key.');
      const request = { kind, name, codes, tags, percent, active, language, to: addressesOf(to) };
      const by = { actor: caller.actor, now: service.clock() };
      return json(201, present(await createAlert(service.sql, caller, request, by), 0));
    },
  });

const listOperation = (service: Service): Operation =>
  operation({
    operationId: 'listAlerts',
    method: 'GET',
    path: '/v1/alerts',
    tag,
    summary: 'List alerts',
    description: 'All alerts, newest first.',
    success: { status: 200, description: 'The alerts.', schema: Alerts },
    errors: [],
    async handle({ caller }) {
      const [alerts, counts] = await Promise.all([listAlerts(service.sql, caller), countRaised(service.sql, caller)]);
      const data = alerts.map((alert) => present(alert, counts.get(alert.id) ?? 0));
      return json(200, { data, is_mailed: service.mail !== undefined });
    },
  });

const listRaisedOperation = (service: Service): Operation =>
  operation({
    operationId: 'listRaisedAlerts',
    method: 'GET',
    path: '/v1/alerts/raised',
    tag,
    summary: 'List what alerts have raised',
    description: 'Everything that was raised and is not over, latest first.',
    query: t.Object(
      {
        limit: t.Optional(
          t.Integer({
            minimum: 1,
            maximum: maxListed,
            description: `At most ${maxListed}. Default: 20.`,
            examples: [20],
          }),
        ),
      },
      exact,
    ),
    success: { status: 200, description: 'What is raised.', schema: RaisedAlerts },
    errors: ['invalid_request'],
    async handle({ caller, query: { limit = 20 } }) {
      const [raised, counts] = await Promise.all([
        listRaised(service.sql, caller, limit),
        countRaised(service.sql, caller),
      ]);
      const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
      return json(200, { data: raised.map(presentRaised), total });
    },
  });

const getOperation = (service: Service): Operation =>
  operation({
    operationId: 'getAlert',
    method: 'GET',
    path: '/v1/alerts/:id',
    tag,
    summary: 'Get an alert',
    description: 'Its settings, and how many things it has raised.',
    params,
    success: { status: 200, description: 'The alert.', schema: Alert },
    errors: ['not_found'],
    async handle({ caller, params: { id = '' } }) {
      return json(200, await read(service, await requireAlert(service.sql, caller, id)));
    },
  });

const updateOperation = (service: Service): Operation =>
  operation({
    operationId: 'updateAlert',
    method: 'PATCH',
    path: '/v1/alerts/:id',
    tag,
    summary: 'Change an alert',
    description:
      'Changes the fields that are given. What the alert had raised about codes that it no longer watches is cleared, and so is everything when it is paused.',
    params,
    body: AlertChange,
    success: { status: 200, description: 'The alert after the change.', schema: Alert },
    errors: ['invalid_request', 'not_found', 'conflict'],
    async handle({ caller, params: { id = '' }, body }) {
      const before = await requireAlert(service.sql, caller, id);
      const { percent, active, language, to } = body;
      const change: Partial<NewAlertSettings> = {
        ...(await readSettings(service, caller, body, before)),
        ...(percent === undefined ? {} : { percent }),
        ...(active === undefined ? {} : { active }),
        ...(language === undefined ? {} : { language }),
        ...(to === undefined ? {} : { to: addressesOf(to) }),
      };
      const by = { actor: caller.actor, now: service.clock() };
      return json(200, await read(service, await updateAlert(service.sql, caller, id, change, by)));
    },
  });

const deleteOperation = (service: Service): Operation =>
  operation({
    operationId: 'deleteAlert',
    method: 'DELETE',
    path: '/v1/alerts/:id',
    tag,
    summary: 'Delete an alert',
    description: 'Whatever it had raised ends with it, without an `alert.cleared` event.',
    params,
    success: { status: 200, description: 'The alert is deleted.', schema: Deleted },
    errors: ['not_found', 'conflict'],
    async handle({ caller, params: { id = '' } }) {
      await deleteAlert(service.sql, caller, id, { actor: caller.actor, now: service.clock() });
      return json(200, { deleted: true, id });
    },
  });

const read = async ({ sql }: Service, alert: OwnedAlert) => present(alert, (await raisedBy(sql, alert.id)).length);

function present(alert: OwnedAlert, raised: number): Static<typeof Alert> {
  const { id, kind, name, codes, tags, percent, active, created_at } = alert;
  return {
    id,
    kind,
    name,
    qr_ids: codes,
    tags,
    percent,
    active,
    language: languageNamed(alert.language),
    ...presentRecipients(alert),
    raised,
    created_at: created_at.toISOString(),
  };
}

function presentRaised(raised: ListedRaised): Static<typeof RaisedAlert> {
  const { alert, kind, name, code, domain, title, message, link, raised_at } = raised;
  const about = { qr_id: code, domain_id: domain, title, message, url: link };
  return { alert_id: alert, kind, name, ...about, raised_at: raised_at.toISOString() };
}

type ReadSettings = Partial<Pick<AlertSettings, 'name' | 'codes' | 'tags'>>;

/** Reads what create and change have in common; throws 400. One choice of codes replaces the other. */
async function readSettings(
  { sql }: Service,
  owner: Owner,
  body: Static<typeof AlertChange>,
  before: Pick<OwnedAlert, 'kind' | 'codes' | 'tags'>,
): Promise<ReadSettings> {
  const { name, qr_ids, tags } = body;
  const errors = nameAndAddressErrors(body);
  const hasCodes = Array.isArray(qr_ids);
  const hasTags = Array.isArray(tags);
  if (hasCodes && hasTags)
    errors.push({
      field: 'tags',
      message: 'tags and qr_ids cannot both be given: choose one of them, or none for all codes.',
    });
  if (before.kind === 'domain_failing' && (hasCodes || hasTags))
    errors.push({
      field: hasCodes ? 'qr_ids' : 'tags',
      message: 'An alert about domains watches all of them, and no codes.',
    });
  // A list that is given replaces the other; null removes only its own.
  const choice = hasCodes || hasTags ? choiceOf(body) : undefined;
  if (choice !== undefined) errors.push(...(await missingCodes(sql, owner, choice, before)));
  refuseInvalid(errors);
  return {
    ...(name === undefined ? {} : { name: name.trim() }),
    ...(qr_ids === null ? { codes: null } : {}),
    ...(tags === null ? { tags: null } : {}),
    ...choice,
  };
}
