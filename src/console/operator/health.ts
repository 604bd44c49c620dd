import { type Static, Type as t } from '@sinclair/typebox';
import type { Operation } from '../../api/http/operation.ts';
import { json } from '../../api/http/responses.ts';
import type { Service } from '../../api/service.ts';
import { listOperatorActions } from '../../operator/audit.ts';
import { readHealth } from '../../operator/health.ts';
import { isoOf, operatorOperation } from './define.ts';
import { Health, OperatorAction, pageOf } from './schemas.ts';

/** How the service is, and what operators did. */
export const healthOperations = (service: Service): Operation[] => [health(service), actions(service)];

const health = ({ sql }: Service) =>
  operatorOperation({
    operationId: 'readHealth',
    method: 'GET',
    path: '/v1/health',
    summary: 'Read lag, spools, disks, domains, the last backup and the processes of the service',
    schema: Health,
    async handle() {
      return json(200, presentHealth(await readHealth(sql)));
    },
  });

const presentHealth = (found: Awaited<ReturnType<typeof readHealth>>): Static<typeof Health> => ({
  version: found.version,
  position: found.head,
  projections: found.projections,
  instances: found.instances.map((instance) => ({
    id: instance.id,
    host: instance.host,
    pid: instance.pid,
    version: instance.version,
    roles: instance.roles,
    started_at: instance.started_at.toISOString(),
    seen_at: instance.seen_at.toISOString(),
    is_silent: instance.is_silent,
    spool: instance.spool_bytes === null ? null : { bytes: instance.spool_bytes, seconds: instance.spool_seconds ?? 0 },
    disk:
      instance.disk_free === null || instance.disk_size === null
        ? null
        : { free: instance.disk_free, size: instance.disk_size },
  })),
  domains: {
    active: found.domains.active,
    failing: found.domains.failing,
    pending: found.domains.pending,
    problems: found.domains.problems.map(({ id, name, account, account_name, checked_at, problems }) => ({
      id,
      name,
      account: { id: account, name: account_name },
      checked_at: isoOf(checked_at),
      problems: problems.map(({ check, expected, found: actual }) => `${check}: expected ${expected}, found ${actual}`),
    })),
  },
  last_backup:
    found.backup === undefined ? null : { ...found.backup, finished_at: found.backup.finished_at.toISOString() },
});

const actions = ({ sql }: Service) =>
  operatorOperation({
    operationId: 'listOperatorActions',
    method: 'GET',
    path: '/v1/audit',
    summary: 'List what operators did, newest first',
    query: t.Object({
      after: t.Optional(t.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
      actor: t.Optional(
        t.String({ maxLength: 100, pattern: '^[\\w-]+$', 'x-expected': 'the id of a person or operator' }),
      ),
    }),
    schema: pageOf(OperatorAction),
    async handle({ query: { after, actor } }) {
      const { data, next } = await listOperatorActions(sql, { before: after, actor });
      const presented = data.map(
        ({ position: _, occurred_at, ...action }): Static<typeof OperatorAction> => ({
          ...action,
          at: occurred_at.toISOString(),
        }),
      );
      return json(200, { data: presented, next });
    },
  });
