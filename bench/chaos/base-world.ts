import { join } from 'node:path';
import type { Owner } from '../../events/owner.ts';
import { createAccount } from '../../src/accounts/accounts.ts';
import type { Warehouse } from '../../src/analytics/connect.ts';
import { createCodes } from '../../src/codes/create.ts';
import type { SecretBox } from '../../src/lib/secret-box.ts';
import type { Sql } from '../../src/lib/sql.ts';
import { freePort } from '../../src/stack/processes.ts';
import { set } from '../../src/webhooks/commands.ts';
import type { Receiver } from './receiver.ts';
import type { ScannedCode } from './scanner.ts';
import { type ServiceProcess, serviceProcess } from './service-process.ts';

/** What a world with its own stack and a world on external servers have in common. */
export interface BaseWorld {
  /** Not proxied, so results can be read during a fault. */
  sql: Sql;
  box: SecretBox;
  /** An API key of the account that owns the codes. */
  key: string;
  /** Receives the account's webhook; undefined in a world without one. */
  receiver: Receiver | undefined;
  /** Undefined in a world without a warehouse. */
  clickhouse: { warehouse: Warehouse } | undefined;
  /** Prepares a service without starting it. */
  service(settings?: Record<string, string>, flags?: string[]): Promise<ServiceProcess>;
  /** Creates codes that have no scans yet. */
  codes(count: number): Promise<ScannedCode[]>;
  /** Stops everything that was started and deletes its data. */
  stop(): Promise<void>;
}

type Environment = Record<string, string>;

/** The settings that every service under test has, on any servers. */
export const serviceEnvironment = (folder: string, secretKey: string, timeoutScale = 1): Environment => ({
  SECRET_KEY: secretKey,
  TIMEOUT_SCALE: String(timeoutScale),
  EDGE_DIR: join(folder, 'edges'),
  LOG_LEVEL: 'info',
  EDGES: '1',
  ROLES: 'api,edge,relay,projections',
  WEBHOOK_ALLOW_HTTP: 'true',
  WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
});

/** Prepares services that share an environment, each with its own port and log file, and stops them together. */
export class Services {
  readonly #services: ServiceProcess[] = [];
  readonly #environment: Environment;
  readonly #logFolder: string;

  constructor(environment: Environment, logFolder: string) {
    this.#environment = environment;
    this.#logFolder = logFolder;
  }

  async add(settings: Environment = {}, flags: string[] = []): Promise<ServiceProcess> {
    const logFile = join(this.#logFolder, `service-${this.#services.length}.log`);
    const service = serviceProcess(await freePort(), { ...this.#environment, ...settings }, logFile, flags);
    this.#services.push(service);
    return service;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#services.map((service) => service.stop()));
  }
}

/** Creates the account whose codes are scanned, with a webhook if there is a receiver. */
export async function createChaosAccount(
  sql: Sql,
  box: SecretBox,
  receiver: Receiver | undefined,
): Promise<{ owner: Owner; key: string }> {
  const now = new Date();
  const { id: account, live } = await createAccount(sql, { name: 'Chaos', plan: 'enterprise', now });
  const owner: Owner = { account, mode: 'live' };
  if (receiver !== undefined) await set(sql, box, owner, receiver.url, { actor: 'operator', now });
  return { owner, key: live.secret };
}

export async function createChaosCodes(sql: Sql, box: SecretBox, owner: Owner, count: number): Promise<ScannedCode[]> {
  const requests = Array.from({ length: count }, (_, i) => ({
    name: `Chaos ${i}`,
    destination_url: 'https://example.com/chaos',
  }));
  const created = await sql.begin((tx) =>
    createCodes(tx, box, owner, requests, { actor: 'operator', now: new Date() }),
  );
  return created.map(({ code }) => ({ id: code.id, shortCode: code.short_code }));
}
