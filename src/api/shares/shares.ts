import type { Static } from '@sinclair/typebox';
import { readTimestamp, timestampProblem } from '../../../events/timestamp.ts';
import {
  createShare,
  listShares,
  maxShares,
  type OwnedShare,
  removeShare,
  requireShare,
  updateShare,
} from '../../accounts/shares.ts';
import { type FieldError, refuseInvalid } from '../../lib/errors.ts';
import { type Operation, operation } from '../http/operation.ts';
import { json } from '../http/responses.ts';
import { Deleted } from '../http/schemas.ts';
import { choiceErrors, choiceOf, nameAndAddressErrors } from '../http/shared-fields.ts';
import type { Service } from '../service.ts';
import { minPasswordLength, NewShare, Share, ShareChange, Shares } from './schemas.ts';

const tag = 'Shared pages';
const params = { id: 'Identifier of the page, `shr_…`.' };

/** Operations on public pages of statistics. */
export const shareOperations = (service: Service): Operation[] => [
  createOperation(service),
  listOperation(service),
  getOperation(service),
  updateOperation(service),
  deleteOperation(service),
];

const createOperation = (service: Service): Operation =>
  operation({
    operationId: 'createShare',
    method: 'POST',
    path: '/v1/shares',
    tag,
    summary: 'Create a shared page',
    description: `A page of statistics that anyone with its link can read, about the codes in \`qr_ids\` or with one of the \`tags\`. It shows neither ids nor destinations, and no figure of fewer than 5 visitors. An account can have ${maxShares} in each mode.`,
    body: NewShare,
    success: { status: 201, description: 'The new page.', schema: Share },
    errors: ['invalid_request', 'quota_exceeded', 'conflict'],
    async handle({ caller, body }) {
      const { sql, clock } = service;
      const now = clock();
      refuseInvalid([...settingErrors(body, now), ...(await choiceErrors(sql, caller, body))]);
      const request = {
        name: body.name.trim(),
        ...choiceOf(body),
        password: body.password ?? undefined,
        expires_at: readTimestamp(body.expires_at) ?? null,
        bots: body.bots ?? 'exclude',
        frame_origins: (body.frame_origins ?? []).map(originOf),
      };
      return json(201, present(service, await createShare(sql, caller, request, { actor: caller.actor, now })));
    },
  });

const listOperation = (service: Service): Operation =>
  operation({
    operationId: 'listShares',
    method: 'GET',
    path: '/v1/shares',
    tag,
    summary: 'List shared pages',
    description: 'All pages that have not ended, newest first.',
    success: { status: 200, description: 'The pages.', schema: Shares },
    errors: [],
    async handle({ caller }) {
      const shares = await listShares(service.sql, caller);
      return json(200, { data: shares.map((share) => present(service, share)) });
    },
  });

const getOperation = (service: Service): Operation =>
  operation({
    operationId: 'getShare',
    method: 'GET',
    path: '/v1/shares/:id',
    tag,
    summary: 'Get a shared page',
    description: 'Its settings and its link.',
    params,
    success: { status: 200, description: 'The page.', schema: Share },
    errors: ['not_found'],
    async handle({ caller, params: { id = '' } }) {
      return json(200, present(service, await requireShare(service.sql, caller, id)));
    },
  });

const updateOperation = (service: Service): Operation =>
  operation({
    operationId: 'updateShare',
    method: 'PATCH',
    path: '/v1/shares/:id',
    tag,
    summary: 'Change a shared page',
    description:
      'Works at once. `qr_ids` or `tags` replaces what the page was about. A `password` of null removes it, and another one closes the page for those who had opened it.',
    params,
    body: ShareChange,
    success: { status: 200, description: 'The page after the change.', schema: Share },
    errors: ['invalid_request', 'not_found', 'conflict'],
    async handle({ caller, params: { id = '' }, body }) {
      const { sql, clock } = service;
      const now = clock();
      const { name, expires_at, frame_origins, qr_ids, tags, ...others } = body;
      const hasChoice = qr_ids !== undefined || tags !== undefined;
      const before = await requireShare(sql, caller, id);
      const wrongChoice = hasChoice ? await choiceErrors(sql, caller, body, before) : [];
      refuseInvalid([...settingErrors(body, now), ...wrongChoice]);
      const change = {
        ...others,
        ...(name === undefined ? {} : { name: name.trim() }),
        ...(hasChoice ? choiceOf(body) : {}),
        ...(expires_at === undefined ? {} : { expires_at: readTimestamp(expires_at)?.toISOString() ?? null }),
        ...(frame_origins === undefined ? {} : { frame_origins: frame_origins.map(originOf) }),
      };
      const by = { actor: caller.actor, now };
      return json(200, present(service, await updateShare(sql, caller, id, change, by)));
    },
  });

const deleteOperation = (service: Service): Operation =>
  operation({
    operationId: 'deleteShare',
    method: 'DELETE',
    path: '/v1/shares/:id',
    tag,
    summary: 'End a shared page',
    description: 'Its link leads nowhere from the next request on, and never works again.',
    params,
    success: { status: 200, description: 'The page has ended.', schema: Deleted },
    errors: ['not_found', 'conflict'],
    async handle({ caller, params: { id = '' } }) {
      await removeShare(service.sql, caller, id, { actor: caller.actor, now: service.clock() });
      return json(200, { deleted: true, id });
    },
  });

function present({ addresses }: Service, share: OwnedShare): Static<typeof Share> {
  const { id, name, token, codes, tags, has_password, expires_at, bots, frame_origins, created_at } = share;
  return {
    id,
    name,
    url: token === null ? null : `${addresses.publicUrl}/s/${token}`,
    qr_ids: codes,
    tags,
    has_password,
    expires_at: expires_at?.toISOString() ?? null,
    bots,
    frame_origins,
    created_at: created_at.toISOString(),
  };
}

/** What is wrong with the fields that create and change have in common. */
function settingErrors(body: Static<typeof ShareChange>, now: Date): FieldError[] {
  const { password, expires_at, frame_origins = [] } = body;
  const errors = nameAndAddressErrors(body);
  const add = (field: string, problem: string | undefined) => {
    if (problem !== undefined) errors.push({ field, message: `${field} ${problem}.` });
  };
  if (typeof password === 'string' && (password.length < minPasswordLength || password.length > 255))
    add('password', `must have ${minPasswordLength} to 255 characters`);
  if (typeof expires_at === 'string') {
    const time = readTimestamp(expires_at);
    add('expires_at', time === undefined ? timestampProblem : time <= now ? 'must be in the future' : undefined);
  }
  for (const [i, origin] of frame_origins.entries())
    if (!originPattern.test(originOf(origin)))
      add(`frame_origins[${i}]`, 'must be the address of a website without a path, such as https://example.com');
  return errors;
}

/** Nothing else may get into a header. */
const originPattern = /^https?:\/\/[a-z0-9.-]{1,253}(?::\d{1,5})?$/;
const originOf = (text: string) => text.trim().toLowerCase().replace(/\/$/, '');
