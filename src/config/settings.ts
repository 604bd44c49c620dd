import { plans } from '../../events/plans.ts';
import { DEFAULT_TRUSTED_PROXIES, parseTrustedProxies } from '../lib/client-address.ts';
import { parseRanges } from '../lib/ip-range.ts';
import { logLevels } from '../lib/logger.ts';
import {
  baseUrl,
  boolean,
  contact,
  dnsServers,
  host,
  integer,
  networks,
  origin,
  secret,
  severalOf,
  target,
  text,
  webUrl,
  wordOf,
} from '../lib/setting-readers.ts';
import { mailSettings } from './mail-settings.ts';
import { oidcSettings } from './oidc-settings.ts';
import { roles } from './roles.ts';
import { serverSettings } from './server-settings.ts';
import { setting } from './setting.ts';
import { traceSettings } from './trace-settings.ts';

export const signups = ['closed', 'invite', 'open'] as const;
export type Signup = (typeof signups)[number];

export const durabilities = ['disk', 'log'] as const;

/** Every setting there is, in the order of docs/reference.md. Flags win over the environment. */
export const settings = {
  port: setting({
    variable: 'PORT',
    flag: 'port',
    read: integer(0, 65_535),
    fallback: '3000',
    about: 'Port the service listens on (0: any free one).',
  }),
  host: setting({
    variable: 'HOST',
    flag: 'host',
    read: host,
    fallback: '127.0.0.1',
    about: 'Address the service listens on. `0.0.0.0` opens it to the network.',
  }),
  publicUrl: setting({
    variable: 'PUBLIC_URL',
    flag: 'public-url',
    read: origin('https://qr.example.com', 'the service uses the root of its host; SHORT_BASE_URL may have a path'),
    about: 'URL at which people reach the service, without a path. Default: `http://localhost:<port>`.',
  }),
  shortBaseUrl: setting({
    variable: 'SHORT_BASE_URL',
    read: baseUrl('https://go.example.com'),
    about:
      'Base URL of short links; with a path such as `/q`, the service answers both below that path and at its root. Default: the public URL.',
  }),
  imageBaseUrl: setting({
    variable: 'IMAGE_BASE_URL',
    read: baseUrl('https://img.example.com'),
    about:
      'Base URL of image links, which a proxy or CDN maps to `/images` of the service. Default: the public URL and `/images`.',
  }),
  ...serverSettings,
  edgeFolder: setting({
    variable: 'EDGE_DIR',
    read: text,
    fallback: '.scanlog/edges',
    about: 'Folder for scans until they are in Postgres, and for the snapshot of routes. `up` keeps it under `--data`.',
  }),
  spoolMaxBytes: setting({
    variable: 'SPOOL_MAX_BYTES',
    read: integer(1, 1e15),
    fallback: '1073741824',
    about:
      'Size limit of the scans that an edge keeps on disk until they are in Postgres; beyond it, redirects answer 503.',
  }),
  edgeDurability: setting({
    variable: 'EDGE_DURABILITY',
    read: wordOf(durabilities),
    about:
      'When a redirect is sent: `disk`, once its scan is synced to `EDGE_DIR`, or `log`, once it is committed by Postgres ([what may be lost](operations.md#durability)). Default: `disk` for `up`, `log` for `serve`.',
  }),
  geoPath: setting({
    variable: 'GEOIP_DB',
    read: text,
    about: 'City database in MaxMind’s format, reloaded when it is replaced. Default: DB-IP Lite.',
  }),
  secretKey: setting({
    variable: 'SECRET_KEY',
    isSecret: true,
    read: secret,
    about:
      'Encrypts the signing secrets of webhooks, the keys that visitors are hashed with and the secrets of one-time codes; the same for every process on one database, and never lost. `up` generates one and keeps it under `--data`.',
  }),
  newSecretKey: setting({
    variable: 'NEW_SECRET_KEY',
    isSecret: true,
    read: secret,
    about: 'For `./scanlog secret rotate` only: the key that replaces `SECRET_KEY`.',
  }),
  webhookAllowHttp: setting({
    variable: 'WEBHOOK_ALLOW_HTTP',
    read: boolean,
    fallback: 'false',
    about: 'Whether webhooks may go to plain `http:` URLs: `true` or `false`.',
  }),
  webhookAllowedCidrs: setting({
    variable: 'WEBHOOK_ALLOWED_CIDRS',
    read: networks(parseRanges),
    about: 'Private networks that webhooks, and checks of the destinations of codes, may reach, such as `10.1.2.0/24`.',
  }),
  ...mailSettings,
  domainTarget: setting({
    variable: 'DOMAIN_TARGET',
    read: target,
    about:
      'Where custom domains must lead: a host name, for a CNAME record, or an address, for an A or AAAA record ([how](deploy.md#custom-domains)). Default: the host of `SHORT_BASE_URL`.',
  }),
  dnsServers: setting({
    variable: 'DNS_SERVERS',
    read: dnsServers,
    about:
      'DNS servers that find the records of custom domains, such as `10.0.0.2:53`, separated by commas. Default: the servers of the system.',
  }),
  domainAllowedCidrs: setting({
    variable: 'DOMAIN_ALLOWED_CIDRS',
    read: networks(parseRanges),
    about: 'Private networks that custom domains may lead to, such as `10.1.2.0/24`, for a service inside of one.',
  }),
  ...oidcSettings,
  maxTestCodes: setting({
    variable: 'MAX_TEST_CODES',
    read: integer(0, 1e9),
    fallback: '10000',
    about: 'Maximum number of test codes of an account; they do not count against its plan.',
  }),
  maxGivenShortCodes: setting({
    variable: 'MAX_GIVEN_SHORT_CODES',
    read: integer(0, 1e9),
    about:
      'Maximum number of short codes that an account can choose in 30 days, live and test counted apart, deleted codes included. Default: by plan, 200 (Free), 500 (Pro), 1,000 (Business), 10,000 (Enterprise).',
  }),
  maxLogos: setting({
    variable: 'MAX_LOGOS',
    read: integer(0, 1e6),
    fallback: '100',
    about: 'Maximum number of logos of an account, live and test counted apart.',
  }),
  maxEventStreams: setting({
    variable: 'MAX_EVENT_STREAMS',
    read: integer(1, 1_000),
    fallback: '25',
    about:
      'Maximum number of open event streams and waiting requests of an account at one process, live and test together; all accounts together can have 1,000.',
  }),
  scanRetentionMonths: setting({
    variable: 'SCAN_RETENTION_MONTHS',
    read: integer(1, 1_200),
    about:
      'Deletes scans from before the start of the month (UTC) that was this many months ago; totals of codes stay ([what else](operations.md#retention)). The same for every process. Default: scans are kept.',
  }),
  archiveS3Endpoint: setting({
    variable: 'ARCHIVE_S3_ENDPOINT',
    read: webUrl('https://s3.eu-central-1.amazonaws.com'),
    about:
      'Where S3 is, for archives in `s3://…` ([how](operations.md#archive)). Default: the endpoint of Amazon in `ARCHIVE_S3_REGION`.',
  }),
  archiveS3Region: setting({
    variable: 'ARCHIVE_S3_REGION',
    read: text,
    about: 'Region of the S3 of archives. Default: `us-east-1`.',
  }),
  archiveS3AccessKeyId: setting({
    variable: 'ARCHIVE_S3_ACCESS_KEY_ID',
    isSecret: true,
    read: text,
    about: 'Access key of the S3 of archives; every process that reads the log needs it.',
  }),
  archiveS3SecretAccessKey: setting({
    variable: 'ARCHIVE_S3_SECRET_ACCESS_KEY',
    isSecret: true,
    read: text,
    about: 'Secret of `ARCHIVE_S3_ACCESS_KEY_ID`.',
  }),
  signup: setting({
    variable: 'SIGNUP',
    read: wordOf(signups),
    fallback: 'invite',
    about:
      'Who can become a new person here: `closed`, only those whom the operator invites; `invite`, also those whom an owner invites; `open`, everyone, with an account of their own ([more](people.md#sign-up)).',
  }),
  signupPlan: setting({
    variable: 'SIGNUP_PLAN',
    read: wordOf(plans),
    fallback: 'free',
    about: 'The plan of accounts that people create with `SIGNUP=open`.',
  }),
  abuseContact: setting({
    variable: 'ABUSE_CONTACT',
    read: contact('https:', 'http:'),
    about:
      'Where people report a bad link: a URL or `mailto:` address, linked on every page that a short link can show.',
  }),
  securityContact: setting({
    variable: 'SECURITY_CONTACT',
    read: contact('https:'),
    about:
      'Where people report a vulnerability: an `https:` URL or `mailto:` address, served in `/.well-known/security.txt`.',
  }),
  metricsHost: setting({
    variable: 'METRICS_HOST',
    read: host,
    fallback: '127.0.0.1',
    about: 'Address that `/metrics` is served on, separate from the service.',
  }),
  metricsPort: setting({
    variable: 'METRICS_PORT',
    read: integer(0, 65_535),
    fallback: '9464',
    about: 'Port for `/metrics`; if it is in use, any free one.',
  }),
  edges: setting({
    variable: 'EDGES',
    flag: 'edges',
    read: integer(1, 64),
    fallback: '1',
    about: 'Processes that share the port, to use more cores.',
  }),
  roles: setting({
    variable: 'ROLES',
    flag: 'role',
    read: severalOf(roles),
    fallback: roles.join(','),
    about: `What this process does: any of ${roles.map((role) => `\`${role}\``).join(', ')}.`,
  }),
  trustedProxies: setting({
    variable: 'TRUSTED_PROXIES',
    read: networks(parseTrustedProxies),
    fallback: DEFAULT_TRUSTED_PROXIES,
    about: 'Networks whose `X-Forwarded-For` header is trusted.',
  }),
  logLevel: setting({
    variable: 'LOG_LEVEL',
    flag: 'log-level',
    read: wordOf(logLevels),
    fallback: 'info',
    about: `How much is logged: ${logLevels.map((level) => `\`${level}\``).join(', ')}.`,
  }),
  timeoutScale: setting({
    variable: 'TIMEOUT_SCALE',
    read: integer(1, 100),
    fallback: '1',
    about:
      'Multiplies how long the service waits for its servers and processes, for a machine that is many times slower than usual.',
  }),
  ...traceSettings,
};
