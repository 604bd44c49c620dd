import { Type } from '@sinclair/typebox';
import { domainProblem, domainSettings, removalReasons } from './domain.ts';
import { oneOf } from './one-of.ts';
import { define, exact } from './public-type.ts';

const identity = {
  domain_id: Type.String({ description: 'Identifier of the domain.', examples: ['dom_0VMNcq2hE3kx0dTtWq8LbY'] }),
  name: Type.String({ examples: ['go.example.com'] }),
};
const identityOf = ({ data: { domain, name } }: { data: { domain: string; name: string } }) => ({
  domain_id: domain,
  name,
});

/** What the owner of an account sees of its custom domains. */
export const publicDomainTypes = {
  'domain.added': define({
    summary: 'A custom domain was claimed; it redirects once it is verified.',
    entries: ['domain_added'],
    data: Type.Object(identity, exact),
    dataOf: identityOf,
  }),
  'domain.verified': define({
    summary: 'The proof of a custom domain is complete, for the first time or again: the domain redirects.',
    entries: ['domain_verified'],
    data: Type.Object(identity, exact),
    dataOf: identityOf,
  }),
  'domain.failing': define({
    summary: 'The proof of a custom domain is no longer complete. The domain still redirects.',
    entries: ['domain_failed'],
    data: Type.Object({ ...identity, problems: Type.Array(domainProblem) }, exact),
    dataOf: (entry) => ({ ...identityOf(entry), problems: entry.data.problems }),
  }),
  'domain.updated': define({
    summary: 'The settings of a custom domain changed.',
    entries: ['domain_changed'],
    data: Type.Object({ ...identity, from: domainSettings, to: domainSettings }, exact),
    dataOf: (entry) => ({ ...identityOf(entry), from: entry.data.from, to: entry.data.to }),
  }),
  'domain.removed': define({
    summary: 'A custom domain was removed: by the account, or because another account has proved that it is theirs.',
    entries: ['domain_removed'],
    data: Type.Object({ ...identity, reason: oneOf(removalReasons) }, exact),
    dataOf: (entry) => ({ ...identityOf(entry), reason: entry.data.reason }),
  }),
};
