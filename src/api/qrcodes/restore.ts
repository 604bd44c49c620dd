import type { Code } from '../../../events/code.ts';
import { changeBy } from '../../../events/code-change.ts';
import type { CodeChanged } from '../../../events/code-events.ts';
import { restoreCode } from '../../../events/restore.ts';
import { blockOf, refuseBlocked, urlsOf } from '../../codes/blocked-hosts.ts';
import { restore } from '../../codes/change.ts';
import { codeNotFound, findCode } from '../../codes/codes.ts';
import { problemsWithContent } from '../../codes/content-problems.ts';
import { codeAtVersion } from '../../codes/past.ts';
import { invalid, Refusal } from '../../lib/errors.ts';
import { type Operation, operation } from '../http/operation.ts';
import { etagHeader, etagOfVersion, ifMatchHeader, versionCheckOf } from '../http/preconditions.ts';
import { json } from '../http/responses.ts';
import type { Service } from '../service.ts';
import { presentRead } from './present.ts';
import { RestoreRequest } from './qrcode-requests.ts';
import { QrCode } from './qrcode-schemas.ts';

export const restoreQrCode = ({ sql, clock, addresses, onChange }: Service): Operation =>
  operation({
    operationId: 'restoreQrCode',
    method: 'POST',
    path: '/v1/qrcodes/:id/restore',
    tag: 'QR codes',
    summary: 'Restore an earlier version of a QR code',
    description:
      'Brings back name, destination, rules, schedule, limit, fallback, query string, tags and note of a version, as new changes by this key; rules keep the ids that they had. Whether the code is active, paused or a draft stays as it is: a restore neither starts nor stops a code. URLs are checked as they would be by PATCH. Restoring what the code already has changes nothing and succeeds.',
    params: { id: 'Identifier of the code, `qr_…`.' },
    headers: ifMatchHeader,
    body: RestoreRequest,
    success: { status: 200, description: 'The code after the restore.', schema: QrCode, headers: etagHeader },
    errors: ['invalid_request', 'destination_blocked', 'not_found', 'conflict', 'version_mismatch'],
    async handle({ caller, params: { id = '' }, body: { version }, headers }) {
      const checkVersion = versionCheckOf(headers);
      const current = await findCode(sql, caller, id);
      if (current === undefined) throw await codeNotFound(sql, caller, id);
      const then = version > current.version ? undefined : await codeAtVersion(sql, id, version);
      if (then === undefined)
        throw new Refusal('not_found', `This QR code has no version ${version}: its newest is ${current.version}.`);
      checkVersion?.(current.version);
      const now = clock();
      const wanted = changedBy(restoreCode(current, then), now);
      const [first, ...more] = problemsWithContent(wanted, addresses.ownUrls);
      if (first !== undefined) throw invalid([first, ...more]);
      await refuseBlocked(sql, urlsOf(wanted));
      const { code, events } = await restore(sql, caller, then, { actor: caller.actor, now, checkVersion });
      await onChange(events);
      const block = await blockOf(sql, code.destination_url);
      return json(200, presentRead(code, addresses, { now, block }), { etag: etagOfVersion(code.version) });
    },
  });

/** The fields that events change: what a code has already needs no check, as with PATCH. */
function changedBy(events: CodeChanged[], now: Date): Partial<Code> {
  const fields: Partial<Code> = {};
  for (const event of events) Object.assign(fields, changeBy({ ...event, occurred_at: now }));
  return fields;
}
