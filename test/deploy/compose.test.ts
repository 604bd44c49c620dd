import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { YAML } from 'bun';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { readConfig, requireParts } from '../../src/config/config.ts';
import { settings } from '../../src/config/settings.ts';
import { fileVariableOf } from '../../src/lib/secret-file.ts';
import { connect } from '../../src/log/connect.ts';
import { uniqueName } from '../support/database.ts';
import { runProgram } from '../support/programs.ts';

interface Service {
  image?: string;
  ports?: string[];
  environment?: Record<string, string>;
  secrets?: string[];
  volumes?: string[];
  networks?: string[];
  depends_on?: string[] | Record<string, unknown>;
}
interface Compose {
  services: Record<string, Service>;
  secrets: Record<string, { file: string }>;
  volumes: Record<string, unknown>;
  networks: Record<string, { ipam: { config: { subnet: string }[] } }>;
}

const source = fileURLToPath(new URL('../../deploy', import.meta.url));
const read = (file: string) => readFileSync(join(source, file), 'utf8');
const compose = YAML.parse(read('compose.yaml')) as Compose;
const services = Object.entries(compose.services);
const { scanlog, caddy } = compose.services;

const known = new Set(Object.values(settings).flatMap(({ variable }) => [variable, fileVariableOf(variable)]));

// A copy, because secrets.sh writes next to compose.yaml.
const copy = mkdtempSync(join(tmpdir(), 'scanlog-compose-'));
const secret = (name: string) => readFileSync(join(copy, compose.secrets[name]?.file ?? ''), 'utf8');
beforeAll(() => {
  cpSync(join(source, 'container'), join(copy, 'container'), { recursive: true });
  const { status, output } = runProgram(join(copy, 'container/secrets.sh'), []);
  expect(status, output).toBe(0);
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

describe('deploy/compose.yaml', () => {
  test('gives the service settings that exist, and all that it requires', () => {
    const environment = scanlog?.environment ?? {};
    expect(Object.keys(environment).filter((name) => !known.has(name))).toEqual([]);
    const values = Object.entries(environment).map(([name, value]) => [
      name,
      value.replace(/\$\{SCANLOG_DOMAIN:[^}]*\}/, 'qr.example.com').replace('/run/secrets/', `${copy}/secrets/`),
    ]);
    const { publicUrl, trustedProxies } = requireParts(readConfig(Object.fromEntries(values)));
    expect(publicUrl).toBe('https://qr.example.com');
    expect(trustedProxies).toEqual(readConfig({ TRUSTED_PROXIES: subnet() }).trustedProxies);
  });

  test('gives Caddy the variables of the Caddyfile', () => {
    const names = [...read('caddy/Caddyfile').matchAll(/\{\$(\w+)/g)].map(([, name]) => name);
    expect(new Set(Object.keys(caddy?.environment ?? {}))).toEqual(new Set(names));
  });

  test('declares every secret, volume, network and service that it names, and mounts files that exist', () => {
    for (const [name, { secrets = [], volumes = [], networks = [], depends_on = [] }] of services) {
      for (const secret of secrets) expect(compose.secrets, name).toHaveProperty(secret);
      for (const network of networks) expect(compose.networks, name).toHaveProperty(network);
      for (const other of Array.isArray(depends_on) ? depends_on : Object.keys(depends_on))
        expect(compose.services, name).toHaveProperty(other);
      for (const [mounted = ''] of volumes.map((volume) => volume.split(':')))
        if (mounted.startsWith('.')) expect(existsSync(join(source, mounted)), mounted).toBe(true);
        else expect(compose.volumes, name).toHaveProperty(mounted);
    }
  });

  test('has the secrets that secrets.sh generates, which it generates once', () => {
    const files = Object.values(compose.secrets).map(({ file }) => basename(file));
    expect(new Set(files)).toEqual(new Set(readdirSync(join(copy, 'secrets'))));
    for (const [name, host, password] of [
      ['database_url', 'postgres', /:(\w{48})@/.exec(secret('database_url'))?.[1]],
      ['clickhouse_url', 'clickhouse', secret('clickhouse_password')],
      ['nats_url', 'nats', /password: "(\w+)"/.exec(secret('nats_config'))?.[1]],
    ] as const) {
      expect(compose.services, name).toHaveProperty(host);
      expect(new URL(secret(name))).toMatchObject({ hostname: host, username: 'scanlog', password });
    }
    expect(secret('database_url'), 'the superuser has another password').not.toContain(secret('postgres_password'));
    expect(runProgram(join(copy, 'container/secrets.sh'), []).status).toBe(1);
  });

  test('has images of exact versions, and open ports at Caddy only', () => {
    const bases = [...read('Dockerfile').matchAll(/^FROM (\S+)/gm)].map(([, image = '']) => image);
    const images = services.flatMap(([, { image = '' }]) => (image === 'scanlog' ? [] : [image]));
    expect([...images, ...bases]).toHaveLength(6);
    for (const image of [...images, ...bases]) expect(image).toMatch(/:(\d+\.\d+[.\d]*|trixie-\d{8})(-[a-z-]+)?$/);
    expect(services.flatMap(([name, { ports }]) => (ports === undefined ? [] : [name]))).toEqual(['caddy']);
    expect(read('Dockerfile').match(/^EXPOSE .*$/gm)).toEqual(['EXPOSE 3000']);
  });

  test('gives the service a Postgres role that owns its database, and is no superuser', async () => {
    const { POSTGRES_USER = '' } = compose.services['postgres']?.environment ?? {};
    const { username, password } = new URL(secret('database_url'));
    expect(POSTGRES_USER).not.toBe(username);
    // Instead of psql, which prints what it gets. The script reads the secret of the container.
    const script = read('container/postgres-role.sh').replace(
      '/run/secrets/database_url',
      join(copy, 'secrets/database_url'),
    );
    const { status, output } = runProgram('sh', ['-c', `POSTGRES_USER=${POSTGRES_USER}\npsql() { cat; }\n${script}`]);
    expect(status, output).toBe(0);
    expect(output).toContain(`CREATE ROLE scanlog LOGIN PASSWORD '${password}'`);

    const admin = connect(inject('stack').adminDatabaseUrl, { max: 1 });
    const name = uniqueName();
    try {
      const own = output.split(';\n').filter((statement) => statement.startsWith('CREATE'));
      for (const statement of own) await admin.unsafe(statement.replaceAll('scanlog', name));
      expect(
        await admin`
          SELECT rolsuper, rolcreatedb, rolcreaterole, rolreplication, datdba = r.oid AS owner, datlocprovider
          FROM pg_roles r, pg_database WHERE rolname = ${name} AND datname = ${name}`,
      ).toEqual([
        {
          rolsuper: false,
          rolcreatedb: false,
          rolcreaterole: false,
          rolreplication: false,
          owner: true,
          datlocprovider: 'b',
        },
      ]);
    } finally {
      await admin.unsafe(`DROP DATABASE IF EXISTS ${name}`);
      await admin.unsafe(`DROP ROLE IF EXISTS ${name}`);
      await admin.end();
    }
  });
});

describe('deploy/Dockerfile', () => {
  test('sets only settings that exist', () => {
    const [, line = ''] = /^ENV (.*)$/m.exec(read('Dockerfile')) ?? [];
    const names = [...line.matchAll(/(\w+)=/g)].map(([, name = '']) => name);
    expect(names).toContain('EDGE_DIR');
    expect(names.filter((name) => !known.has(name))).toEqual([]);
  });
});

function subnet(): string {
  return Object.values(compose.networks)
    .flatMap(({ ipam }) => ipam.config.map(({ subnet }) => subnet))
    .join(',');
}
