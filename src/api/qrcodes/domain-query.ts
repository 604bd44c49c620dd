import { Type as t } from '@sinclair/typebox';
import { readHost } from '../../../events/hosts.ts';
import { invalid } from '../../lib/errors.ts';

/** The query parameter of reads that can be narrowed to a custom domain. */
export const domainQuery = {
  domain: t.Optional(
    t.String({
      minLength: 1,
      maxLength: 255,
      description: 'Only codes on this custom domain.',
      examples: ['go.example.com'],
      'x-expected': 'the name of a domain',
    }),
  ),
};

/** The domain of `domainQuery` as codes have it. Throws 400 for what is not a host. */
export function domainIn({ domain }: { domain?: string | undefined }): string | undefined {
  if (domain === undefined) return undefined;
  const host = readHost(domain);
  if (host === undefined)
    throw invalid([{ field: 'domain', message: 'domain must be the name of a domain, such as go.example.com.' }]);
  return host;
}
