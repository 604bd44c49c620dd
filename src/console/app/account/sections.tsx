import type { Scope } from '../../../../events/scopes.ts';
import { SideLinks } from '../parts/side-links.tsx';
import { may } from '../permissions.tsx';
import { bootstrap } from '../welcome.ts';

interface SectionOf<Name extends string> {
  name: Name;
  path: string;
  text: string;
  /** The scope that it needs. */
  scope: Scope;
}

const section = <Name extends string>(name: Name, path: string, text: string, scope: Scope): SectionOf<Name> => ({
  name,
  path,
  text,
  scope,
});

const groups = [
  {
    title: 'This account',
    sections: [
      section('plan', '/account', 'Plan and usage', 'account.read'),
      section('members', '/account/members', 'Members', 'account.read'),
      section('keys', '/account/keys', 'API keys', 'account.read'),
      section('sessions', '/account/sessions', 'Sessions', 'account.read'),
      section('audit', '/account/audit', 'Audit log', 'events.read'),
    ],
  },
  {
    title: 'Telling others',
    sections: [
      section('reports', '/account/reports', 'Reports', 'account.read'),
      section('alerts', '/account/alerts', 'Alerts', 'account.read'),
      section('shares', '/account/shares', 'Shared pages', 'codes.read'),
    ],
  },
  {
    title: 'Connections',
    sections: [
      section('domains', '/account/domains', 'Domains', 'account.read'),
      section('webhook', '/account/webhook', 'Webhooks', 'webhooks.write'),
    ],
  },
] as const;

export type Section = (typeof groups)[number]['sections'][number]['name'];

const sections: readonly SectionOf<Section>[] = groups.flatMap((group) => [...group.sections]);

/** The section at a path of the console. */
export const sectionAt = (path: string) => sections.find((candidate) => candidate.path === path)?.name;

export const scopeOf = (name: Section): Scope =>
  sections.find((candidate) => candidate.name === name)?.scope ?? 'account.read';

/** A person's sessions are of all their accounts, and on their own page. */
const isShown = ({ name, scope }: SectionOf<Section>) =>
  may(scope) && !(name === 'sessions' && bootstrap.user !== null);

/** Those that the session may see. */
export const allowedSections = () => sections.filter(isShown);

/** Links to the sections of the account. */
export function SectionLinks({ current }: { current: Section }) {
  const shown = groups
    .map(({ title, sections: all }) => ({ title, links: all.filter(isShown) }))
    .filter(({ links }) => links.length > 0);
  return (
    <SideLinks
      label="Account"
      groups={shown}
      current={sections.find(({ name }) => name === current)?.path ?? '/account'}
    />
  );
}
