import { createHash } from 'node:crypto';
import type { Static } from '@sinclair/typebox';
import { createResolver, isFallback } from '../../../events/targeting/resolver.ts';
import { targetingOf } from '../../../events/targeting/targeting.ts';
import { readTimestamp, timestampProblem } from '../../../events/timestamp.ts';
import { type CountedCode, codeNotFound, countTags, findCode } from '../../codes/codes.ts';
import { toLocation } from '../../edge/location.ts';
import { invalid } from '../../lib/errors.ts';
import { type Operation, operation } from '../http/operation.ts';
import { json } from '../http/responses.ts';
import type { Service } from '../service.ts';
import { readAsOf, readLimitedPast } from './as-of.ts';
import { Resolved, ResolveRequest, Tags } from './targeting-schemas.ts';

const tag = 'QR codes';

/** Operations on rules and tags of codes. */
export const targetingOperations = (service: Service): Operation[] => [resolveScan(service), listTags(service)];

const resolveScan = (service: Service): Operation =>
  operation({
    operationId: 'resolveScan',
    method: 'POST',
    path: '/v1/qrcodes/:id/resolve',
    tag,
    summary: 'Find out where a scan would lead',
    description:
      'Where a scan with these properties would lead, and by which rule. Nothing is recorded or counted. Whether the code is active, paused or a draft makes no difference. With `as_of`, by the rules, schedule and limit of that time: where did this poster lead on 3 May at noon?',
    params: { id: 'Identifier of the code, `qr_…`.' },
    body: ResolveRequest,
    success: { status: 200, description: 'Where the scan would lead.', schema: Resolved },
    errors: ['invalid_request', 'not_found'],
    async handle({ caller, params: { id = '' }, body }) {
      const { sql, clock } = service;
      const now = clock();
      const asOf = readAsOf(body.as_of, now);
      const at = body.at === undefined ? (asOf ?? now) : readTimestamp(body.at);
      if (at === undefined) throw invalid([{ field: 'at', message: `at ${timestampProblem}.` }]);
      const code = await findCode(sql, caller, id);
      if (code === undefined) throw await codeNotFound(sql, caller, id);
      const then = asOf === undefined ? code : await readLimitedPast(service, code, asOf);
      return json(200, resolve(then, body, at.getTime()));
    },
  });

function resolve(code: CountedCode, given: Static<typeof ResolveRequest>, atMs: number): Static<typeof Resolved> {
  const isReached = code.max_scans !== null && (code.used_scans ?? 0) >= code.max_scans;
  // The event that says so may not be appended yet.
  const { limit_reached: _, ...targeting } = targetingOf(code) ?? {};
  const resolver = createResolver(
    code.destination_url,
    { ...targeting, ...(isReached ? { limit_reached: true } : {}) },
    toLocation,
  );
  const { country = 'XX', device = 'desktop', browser = 'other', language = '', query = '', visitor = '' } = given;
  const availability = resolver.availabilityAt(atMs);
  const facts = { country: country.toUpperCase(), device, browser, language, atMs };
  const target = availability === 'live' ? resolver.resolve(facts, visitorOf(visitor)) : resolver.fallback;
  return {
    destination_url: target?.url ?? null,
    location: target?.locationOf(query.replace(/^\?/, '')) ?? null,
    rule: target?.rule === undefined || isFallback(target.rule) ? null : target.rule,
    variant: target?.variant ?? null,
    availability,
  };
}

/** Any text in the form of a visitor hash. */
const visitorOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32);

const listTags = ({ sql }: Service): Operation =>
  operation({
    operationId: 'listTags',
    method: 'GET',
    path: '/v1/tags',
    tag,
    summary: 'List tags',
    description:
      'Every tag of the codes in the mode of the key, with the number of codes that have it, most codes first.',
    success: { status: 200, description: 'The tags.', schema: Tags },
    errors: [],
    async handle({ caller }) {
      return json(200, { data: await countTags(sql, caller) });
    },
  });
