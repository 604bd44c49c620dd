import type { Elysia } from 'elysia';
import type { Clock } from '../lib/clock.ts';

interface SecurityTextOptions {
  /** `SECURITY_CONTACT`. If it is unset, the file is not served. */
  contact: string | undefined;
  publicUrl: string;
  clock: Clock;
}

const path = '/.well-known/security.txt';
const dayMs = 86_400_000;
/** RFC 9116 recommends less than a year. The date is computed for each request, so a served file is never expired. */
const validDays = 180;

/** Serves /.well-known/security.txt (RFC 9116), which says where to report a vulnerability. */
export function serveSecurityText(app: Elysia, { contact, publicUrl, clock }: SecurityTextOptions): void {
  if (contact === undefined) return;
  const respond = () => {
    const today = Math.floor(clock().getTime() / dayMs) * dayMs;
    const lines = [
      `Contact: ${contact}`,
      `Expires: ${new Date(today + validDays * dayMs).toISOString().replace('.000Z', 'Z')}`,
      'Preferred-Languages: en',
      `Canonical: ${publicUrl}${path}`,
    ];
    return new Response(`${lines.join('\n')}\n`, {
      headers: {
        'content-type': 'text/plain; charset=utf-8',
        'cache-control': 'public, max-age=3600',
        'x-content-type-options': 'nosniff',
      },
    });
  };
  app.get(path, respond);
  app.route('HEAD', path, respond);
}
