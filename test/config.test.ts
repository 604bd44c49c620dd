import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { addressesOf, readConfig, requireParts } from '../src/config/config.ts';
import { settings } from '../src/config/settings.ts';
import { StartError } from '../src/lib/errors.ts';
import { environmentWith } from '../src/lib/secret-file.ts';
import { urlsOf } from '../src/lib/setting-readers.ts';

/** The error message of a start with these settings. */
function complaintAbout(environment: Record<string, string>, flags: Record<string, string> = {}): string {
  try {
    readConfig(environment, flags);
  } catch (error) {
    expect(error).toBeInstanceOf(StartError);
    return (error as StartError).message;
  }
  return 'nothing';
}

describe('settings that are not given', () => {
  test('the service listens on loopback, port 3000', () => {
    expect(readConfig({})).toMatchObject({ host: '127.0.0.1', port: 3000, logLevel: 'info' });
  });

  test('what the parts need has no default', () => {
    const { databaseUrl, natsUrl, clickhouseUrl, publicUrl } = readConfig({});
    expect({ databaseUrl, natsUrl, clickhouseUrl, publicUrl }).toEqual({
      databaseUrl: undefined,
      natsUrl: undefined,
      clickhouseUrl: undefined,
      publicUrl: undefined,
    });
  });

  test('scans are kept', () => {
    expect(readConfig({}).scanRetentionMonths).toBeUndefined();
  });

  test('an empty variable is one that is not given', () => {
    expect(readConfig({ PORT: '', DATABASE_URL: '' })).toEqual(readConfig({}));
  });
});

describe('mail', () => {
  test('SMTP_URL is the URL of an SMTP server, and needs a sender', () => {
    const from = { MAIL_FROM: 'Scanlog <qr@example.com>' };
    for (const good of ['smtp://h', 'smtps://u:p%40@h:465', 'smtp://[::1]:25?tls=off'])
      expect(readConfig({ SMTP_URL: good, ...from }).smtpUrl).toBe(good);
    for (const bad of ['mail.example.com', 'https://h', 'smtp://u@h', 'smtp://h/path', 'smtp://h?tls=no'])
      expect(complaintAbout({ SMTP_URL: bad, ...from })).toMatch(/^SMTP_URL must be a URL such as smtp:.+\.$/);
    expect(complaintAbout({ SMTP_URL: 'smtp://h' })).toMatch(/^MAIL_FROM must be set with SMTP_URL: /);
    const apart = { SMTP_URL: 'smtp://h', ...from, ROLES: 'projections' };
    expect(complaintAbout(apart)).toMatch(/^PUBLIC_URL must be set with SMTP_URL for a process without the role api: /);
    expect(complaintAbout({ ...apart, PUBLIC_URL: 'https://qr.example.com' })).toBe('nothing');
  });

  test('MAIL_FROM is an address, with a name or without', () => {
    expect(readConfig({ MAIL_FROM: 'qr@example.com' }).mailFrom).toBe('qr@example.com');
    for (const bad of ['Scanlog', 'a@b', 'Scanlog <qr@example.com', 'a@example.com\r\nBcc: b@example.com'])
      expect(complaintAbout({ MAIL_FROM: bad })).toBe('MAIL_FROM must be an address such as Scanlog <qr@example.com>.');
  });
});

describe('settings that are given', () => {
  test('the environment is read', () => {
    expect(readConfig({ PORT: '8080', HOST: '0.0.0.0', LOG_LEVEL: 'debug' })).toMatchObject({
      port: 8080,
      host: '0.0.0.0',
      logLevel: 'debug',
    });
  });

  test('a flag wins over the environment', () => {
    expect(readConfig({ PORT: '8080' }, { port: '9090' }).port).toBe(9090);
  });

  test('slashes at the end of an address are left out, so that paths can be appended', () => {
    expect(readConfig({ SHORT_BASE_URL: 'https://go.example.com/s//' }).shortBaseUrl).toBe('https://go.example.com/s');
  });

  test('NATS servers are given one or several, each with its user and password', () => {
    const servers = 'nats://me:a,b@one:4222,nats://me:a,b@two:4222';
    expect(readConfig({ NATS_URL: 'nats://me:a,b@one:4222/, nats://me:a,b@two:4222' }).natsUrl).toBe(servers);
    expect(urlsOf(servers)).toEqual(['nats://me:a,b@one:4222', 'nats://me:a,b@two:4222']);
    expect(readConfig({ NATS_URL: 'nats://me:a,b@one:4222' }).natsUrl).toBe('nats://me:a,b@one:4222');
  });

  test('every setting has its own variable and a line for the reference', () => {
    const all = Object.values(settings);
    expect(new Set(all.map(({ variable }) => variable)).size).toBe(all.length);
    for (const { variable, about } of all) expect(about, variable).toMatch(/^[A-Z].+\.$/s);
  });
});

describe('settings that are wrong', () => {
  test.each([
    [{ PORT: '65536' }, 'PORT must be an integer from 0 to 65535.'],
    [{ PORT: '-1' }, 'PORT must be an integer from 0 to 65535.'],
    [{ PORT: '3000.5' }, 'PORT must be an integer from 0 to 65535.'],
    [{ PORT: 'http' }, 'PORT must be an integer from 0 to 65535.'],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' },
      'OTEL_EXPORTER_OTLP_ENDPOINT must be a URL such as http://localhost:4318.',
    ],
    [{ OTEL_TRACES_SAMPLER_ARG: '1.5' }, 'OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1.'],
    [
      { OTEL_TRACES_SAMPLER: 'sometimes' },
      'OTEL_TRACES_SAMPLER must be one of always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off, parentbased_traceidratio.',
    ],
    [
      { OTEL_EXPORTER_OTLP_HEADERS: 'authorization: Bearer hunter2' },
      'OTEL_EXPORTER_OTLP_HEADERS must be a list such as name=value,name=value, with "," and "%" in values as %2C and %25.',
    ],
    [{ HOST: 'a b' }, 'HOST must be an address or host name such as 0.0.0.0.'],
    [{ PUBLIC_URL: 'qr.example.com' }, 'PUBLIC_URL must be a URL such as https://qr.example.com.'],
    [{ PUBLIC_URL: 'ftp://qr.example.com' }, 'PUBLIC_URL must be a URL such as https://qr.example.com.'],
    [
      { PUBLIC_URL: 'https://example.com/qr/' },
      'PUBLIC_URL must be a URL without a path, such as https://qr.example.com: the service uses the root of its host; SHORT_BASE_URL may have a path.',
    ],
    [
      { PUBLIC_URL: 'https://me@example.com' },
      'PUBLIC_URL must be a URL without user, query and fragment, such as https://qr.example.com.',
    ],
    [
      { SHORT_BASE_URL: 'https://go.example.com/?code=' },
      'SHORT_BASE_URL must be a URL without user, query and fragment, such as https://go.example.com.',
    ],
    [
      { IMAGE_BASE_URL: 'https://img.example.com/#' },
      'IMAGE_BASE_URL must be a URL without user, query and fragment, such as https://img.example.com.',
    ],
    [
      { DATABASE_URL: 'mysql://host/db' },
      'DATABASE_URL must be a URL such as postgres://user:password@host:5432/scanlog.',
    ],
    [{ NATS_URL: 'host:4222' }, 'NATS_URL must be a URL such as nats://host:4222, or several, separated by commas.'],
    [
      { NATS_URL: 'nats://a:4222,http://b:4222' },
      'NATS_URL must be a URL such as nats://host:4222, or several, separated by commas.',
    ],
    [
      { NATS_URL: 'nats://me:secret@a:4222,nats://b:4222' },
      'NATS_URL must have the same scheme, user and password for every server.',
    ],
    [{ NATS_REPLICAS: '2' }, 'NATS_REPLICAS must be 1, 3 or 5.'],
    [
      { CLICKHOUSE_DATABASE: 'x; DROP' },
      'CLICKHOUSE_DATABASE must have 1 to 63 letters, digits or "_", the first a letter.',
    ],
    [
      { SECRET_KEY: 'hunter2' },
      'SECRET_KEY must have at least 32 characters and no spaces; make one with: openssl rand -hex 32.',
    ],
    [{ WEBHOOK_ALLOW_HTTP: 'yes' }, 'WEBHOOK_ALLOW_HTTP must be true or false.'],
    ...['0', '1201', '-3', '1.5', 'six', '12 months'].map((months): [Record<string, string>, string] => [
      { SCAN_RETENTION_MONTHS: months },
      'SCAN_RETENTION_MONTHS must be an integer from 1 to 1200.',
    ]),
    [{ LOG_LEVEL: 'loud' }, 'LOG_LEVEL must be one of debug, info, warn, error, silent.'],
  ])('%j', (environment, complaint) => {
    expect(complaintAbout(environment)).toBe(complaint);
  });

  test('networks that are none are named', () => {
    expect(complaintAbout({ TRUSTED_PROXIES: '10.0.0.0/33' })).toMatch(
      /^TRUSTED_PROXIES must be a comma-separated list of networks such as 10\.0\.0\.0\/8: .*10\.0\.0\.0\/33/,
    );
  });

  test('roles that do not exist are refused with those that do', () => {
    expect(complaintAbout({ ROLES: 'api,barista' })).toMatch(/^ROLES must be a comma-separated list of api/);
  });

  test('a wrong flag is called by the name it was given under', () => {
    expect(complaintAbout({}, { port: 'none' })).toBe('--port must be an integer from 0 to 65535.');
  });

  test('all of them are reported together', () => {
    expect(complaintAbout({ PORT: 'x', LOG_LEVEL: 'y' }).split('\n')).toHaveLength(2);
  });

  test('what was given is not repeated, since it may hold a password', () => {
    expect(complaintAbout({ DATABASE_URL: 'mysql://me:hunter2@host/db' })).not.toContain('hunter2');
  });
});

describe('secrets that are given by file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'scanlog-config-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const fileOf = (text: string) => {
    const file = join(folder, randomUUID());
    writeFileSync(file, text);
    return file;
  };
  const values = {
    DATABASE_URL: ['databaseUrl', 'postgres://me:a b@h/db'],
    NATS_URL: ['natsUrl', 'nats://me:secret@h:4222'],
    CLICKHOUSE_URL: ['clickhouseUrl', 'http://me:secret@h:8123'],
    SECRET_KEY: ['secretKey', 'f'.repeat(64)],
    NEW_SECRET_KEY: ['newSecretKey', 'e'.repeat(64)],
  } as const;

  test('OTEL_EXPORTER_OTLP_HEADERS is read from its file', () => {
    const file = fileOf('authorization=Bearer%20a%2Cb, x-tenant = one\n');
    expect(readConfig({ OTEL_EXPORTER_OTLP_HEADERS_FILE: file }).otlpHeaders).toEqual({
      authorization: 'Bearer a,b',
      'x-tenant': 'one',
    });
  });

  test.each(Object.entries(values))(
    '%s is read from its file, without the line feed at its end',
    (variable, [key, value]) => {
      expect(readConfig({ [`${variable}_FILE`]: fileOf(`${value}\n`) })[key]).toBe(value);
    },
  );

  test('other settings cannot be given by file', () => {
    expect(readConfig({ PORT_FILE: fileOf('8080') })).toEqual(readConfig({}));
  });

  test('the file and the variable are not both allowed, unless one is empty', () => {
    const file = fileOf('postgres://h/db');
    expect(complaintAbout({ DATABASE_URL: 'postgres://h/db', DATABASE_URL_FILE: file })).toBe(
      'DATABASE_URL and DATABASE_URL_FILE are both set: unset one of them.',
    );
    expect(readConfig({ DATABASE_URL: '', DATABASE_URL_FILE: file }).databaseUrl).toBe('postgres://h/db');
    expect(readConfig({ DATABASE_URL: 'postgres://h/db', DATABASE_URL_FILE: '' }).databaseUrl).toBe('postgres://h/db');
  });

  test('a file that cannot be read, is empty or holds a wrong value is one sentence each, without the value', () => {
    const [missing, empty] = [join(folder, 'missing'), fileOf('\n')];
    const environment = { DATABASE_URL_FILE: missing, NATS_URL_FILE: folder, SECRET_KEY_FILE: empty };
    expect(complaintAbout({ ...environment, CLICKHOUSE_URL_FILE: fileOf('hunter2') }).split('\n')).toEqual([
      `DATABASE_URL_FILE names a file that cannot be read (ENOENT): ${missing}.`,
      `NATS_URL_FILE names a file that cannot be read (EISDIR): ${folder}.`,
      'The file of CLICKHOUSE_URL_FILE must be a URL such as http://user:password@host:8123.',
      `SECRET_KEY_FILE names an empty file: ${empty}.`,
    ]);
  });

  test('a child process that gets a value does not get the file as well', () => {
    const environment = { NATS_URL_FILE: '/run/nats', DATABASE_URL_FILE: '/run/postgres', HOME: '/' };
    expect(environmentWith(environment, { NATS_URL: 'nats://h' })).toEqual({
      DATABASE_URL_FILE: '/run/postgres',
      HOME: '/',
      NATS_URL: 'nats://h',
    });
  });
});

describe('what the service cannot do without', () => {
  const parts = {
    DATABASE_URL: 'postgres://h/db',
    NATS_URL: 'nats://h:4222',
    CLICKHOUSE_URL: 'http://h:8123',
    SECRET_KEY: 'f'.repeat(64),
  };

  test('with all of it, it can run', () => {
    expect(requireParts(readConfig(parts))).toMatchObject({
      databaseUrl: 'postgres://h/db',
      natsUrl: 'nats://h:4222',
      clickhouseUrl: 'http://h:8123',
      secretKey: 'f'.repeat(64),
    });
  });

  test.each(Object.keys(parts))('without %s it says so', (variable) => {
    const config = readConfig({ ...parts, [variable]: '' });
    expect(() => requireParts(config)).toThrow(new RegExp(`^${variable} must be set: `));
  });
});

describe('where people find things', () => {
  test('by default all on localhost, images under /images', () => {
    expect(addressesOf(readConfig({}), 3000)).toEqual({
      publicUrl: 'http://localhost:3000',
      shortBaseUrl: 'http://localhost:3000',
      ownUrls: ['http://localhost:3000', 'http://127.0.0.1:3000'],
      imageBaseUrl: 'http://localhost:3000/images',
      domainTarget: 'localhost',
      ownHosts: ['localhost'],
    });
  });

  test('short links and images follow the public address', () => {
    expect(addressesOf(readConfig({ PUBLIC_URL: 'https://qr.example.com/' }), 3000)).toEqual({
      publicUrl: 'https://qr.example.com',
      shortBaseUrl: 'https://qr.example.com',
      ownUrls: ['https://qr.example.com', 'http://localhost:3000', 'http://127.0.0.1:3000'],
      imageBaseUrl: 'https://qr.example.com/images',
      domainTarget: 'qr.example.com',
      ownHosts: ['qr.example.com'],
    });
  });

  test('each can have its own address', () => {
    const config = readConfig({ SHORT_BASE_URL: 'https://go.example.com', IMAGE_BASE_URL: 'https://img.example.com' });
    expect(addressesOf(config, 3000)).toEqual({
      publicUrl: 'http://localhost:3000',
      shortBaseUrl: 'https://go.example.com',
      ownUrls: ['https://go.example.com', 'http://localhost:3000', 'http://127.0.0.1:3000'],
      imageBaseUrl: 'https://img.example.com',
      domainTarget: 'go.example.com',
      ownHosts: ['localhost', 'go.example.com', 'img.example.com'],
    });
  });

  test('custom domains lead to a host or an address', () => {
    const target = (text: string) => addressesOf(readConfig({ DOMAIN_TARGET: text }), 3000).domainTarget;
    expect(['Links.Example.com.', '203.0.113.7', '2001:db8::7'].map(target)).toEqual([
      'links.example.com',
      '203.0.113.7',
      '2001:db8::7',
    ]);
    for (const text of ['https://links.example.com', 'links.example.com:80', 'links.example.com/x', 'a b'])
      expect(() => readConfig({ DOMAIN_TARGET: text }), text).toThrow(/^DOMAIN_TARGET must be a host name/);
    expect(readConfig({ DNS_SERVERS: '10.0.0.2, [fd00::2]:5353' }).dnsServers).toEqual([
      { address: '10.0.0.2', port: 53 },
      { address: 'fd00::2', port: 5353 },
    ]);
    for (const text of ['dns.example.com', '10.0.0.2:0', '10.0.0.2,,10.0.0.3'])
      expect(() => readConfig({ DNS_SERVERS: text }), text).toThrow(/^DNS_SERVERS must be a comma-separated list/);
    expect(() => readConfig({ DOMAIN_ALLOWED_CIDRS: '10.0.0.0/33' })).toThrow(/^DOMAIN_ALLOWED_CIDRS must be/);
  });
});
