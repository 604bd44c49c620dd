import type { Elysia } from 'elysia';
import { proofPath } from '../../events/domain.ts';
import { noticeResponse, notices } from '../edge/pages.ts';
import { isDomainToken } from '../lib/ids.ts';
import type { SecretBox } from '../lib/secret-box.ts';

/** Answers for the token of any claim, on every host: only this service has the key that the response is computed with. */
export function serveDomainProof(app: Elysia, box: SecretBox): void {
  const path = `${proofPath}:token` as const;
  const respond = ({ params, request }: { params: { token: string }; request: Request }) =>
    isDomainToken(params.token)
      ? new Response(box.domainProofOf(params.token), {
          headers: {
            'content-type': 'text/plain; charset=utf-8',
            'cache-control': 'no-store',
            'x-content-type-options': 'nosniff',
          },
        })
      : noticeResponse(notices.unknown, request.headers);
  app.get(path, respond);
  app.route('HEAD', path, respond);
}
