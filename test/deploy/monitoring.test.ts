import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startProxy, type TcpProxy } from '../../bench/chaos/proxy.ts';
import { freePort } from '../../src/stack/processes.ts';
import { eventually } from '../support/eventually.ts';
import { captureLog } from '../support/log-lines.ts';
import { programOf, type RunningProgram, runProgram, startProgram } from '../support/programs.ts';
import { useService } from '../support/service.ts';
import { answer, useReceiver } from '../webhooks/receiver.ts';
import { codeOf, mayCallTests, scanCode, setHook } from '../webhooks/webhook-support.ts';

const deployed = (file: string) => fileURLToPath(new URL(`../../deploy/${file}`, import.meta.url));
const read = (file: string) => readFileSync(deployed(file), 'utf8');

/** Every metric with its labels in a text of PromQL, such as `scanlog_redirects_total{outcome="busy"}`. */
const selectorsIn = (text: string) => new Set(text.match(/\bscanlog_[a-z_]+(\{[^}]*\})?/g) ?? []);

interface Panel {
  title: string;
  targets?: { expr: string }[];
}
const { panels } = JSON.parse(read('grafana/scanlog.json')) as { panels: Panel[] };
/** The queries of the dashboard, with the values that Grafana would fill in. */
const queries = panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => ({
    title,
    expr: expr.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.*'),
  })),
);

describe('deploy/prometheus', () => {
  test('promtool finds no error in the configuration, and each alert fires by its fault alone', () => {
    const check = (...args: string[]) => {
      const { status, output } = runProgram(programOf('promtool'), args);
      expect(status, output).toBe(0);
    };
    check('check', 'config', deployed('prometheus/prometheus.yml'));
    check('check', 'rules', deployed('prometheus/alerts.yml'));
    check('test', 'rules', deployed('prometheus/alerts.test.yml'));
  });

  test('there is a fault for every alert', () => {
    const alerts = [...read('prometheus/alerts.yml').matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
    const fired = [...read('prometheus/alerts.test.yml').matchAll(/alertname="(\w+)"/g)].map(([, name]) => name);
    expect(new Set(fired)).toEqual(new Set(alerts));
  });
});

interface Rule {
  name: string;
  query: string;
  health: string;
  state: string;
}

/** A proxy in front of a server. Called before `useService`, so that it closes after the service has stopped. */
function useProxy() {
  let proxy: TcpProxy;
  afterAll(() => proxy?.close());
  return {
    async reach(url: string): Promise<string> {
      proxy = await startProxy(url);
      return proxy.url;
    },
    cut: () => proxy.cut(),
    restore: () => proxy.restore(),
  };
}

/** The alert that is true where 1 % of commits take 100 ms, as on a machine that is busy with other tests. */
const measuresSpeed = 'ScanlogCommitsSlow';

describe('a Prometheus that scrapes the service', () => {
  const postgres = useProxy();
  const clickhouse = useProxy();
  let clockAheadMs = 0;
  const service = useService({
    config: mayCallTests,
    log: captureLog().log,
    clock: () => new Date(Date.now() + clockAheadMs),
    reach: postgres.reach,
    reachWarehouse: clickhouse.reach,
  });
  const receiver = useReceiver();
  const folder = mkdtempSync(join(tmpdir(), 'scanlog-prometheus-'));
  let prometheus: RunningProgram;
  let url = '';

  async function get<T>(path: string): Promise<T> {
    const response = await fetch(`${url}/api/v1/${path}`);
    const { status, data, error } = (await response.json()) as { status: string; data: T; error?: string };
    expect(status, error).toBe('success');
    return data;
  }
  const query = async (expr: string) =>
    (await get<{ result: object[] }>(`query?query=${encodeURIComponent(expr)}`)).result;

  const readRules = async () =>
    (await get<{ groups: { rules: Rule[] }[] }>('rules')).groups.flatMap((group) => group.rules);

  beforeAll(async () => {
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const changes: [string, string][] = [
      ['127.0.0.1:9464', `127.0.0.1:${service.metricsPort()}`],
      ['scrape_interval: 15s', 'scrape_interval: 1s'],
      ['evaluation_interval: 15s', 'evaluation_interval: 1s'],
      ['- alerts.yml', `- ${deployed('prometheus/alerts.yml')}`],
    ];
    const file = join(folder, 'prometheus.yml');
    writeFileSync(
      file,
      changes.reduce((text, [from, to]) => text.replace(from, to), read('prometheus/prometheus.yml')),
    );
    prometheus = startProgram(programOf('prometheus'), [
      ...[`--config.file=${file}`, `--storage.tsdb.path=${folder}/data`, `--web.listen-address=127.0.0.1:${port}`],
    ]);
    const { live } = await service.account();
    await scanCode(service.urls[0] ?? '', await codeOf(live));
    await eventually(async () =>
      expect(await query('scanlog_projection_position > 0'), prometheus.output()).not.toEqual([]),
    );
  });
  afterAll(async () => {
    await prometheus?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('has every metric of the alerts, and a result for each query of the dashboard', async () => {
    const selectors = selectorsIn(read('prometheus/alerts.yml') + queries.map(({ expr }) => expr).join('\n'));
    expect(selectors.size).toBeGreaterThan(25);
    const hasResult = (expr: string, title: string) =>
      eventually(async () => expect(await query(expr), `${title}: ${expr}`).not.toEqual([]));
    for (const selector of selectors) await hasResult(selector, 'a metric');
    for (const { title, expr } of queries) await hasResult(expr, title);
  });

  test('has no alert before a fault; its expression is true during the fault, and false again afterwards', async () => {
    // Right after the start some are pending, because a projection has not reported or has not caught up yet.
    await eventually(async () => {
      const rules = await readRules();
      expect(rules.length).toBeGreaterThan(15);
      expect(rules.map(({ name, health, state }) => [name, health, state])).toEqual(
        rules.map(({ name }) => [name, 'ok', name === measuresSpeed ? expect.any(String) : 'inactive']),
      );
    });

    const expressions = new Map((await readRules()).map(({ name, query }) => [name, query]));
    const samplesOf = (alert: string) => {
      const expr = expressions.get(alert) ?? expect.fail(`${alert} is not in alerts.yml`);
      // Positions are measured every 5 s: a projection that has not moved between two measurements counts as standing still.
      return query(alert === 'ScanlogProjectionStandsStill' ? expr.replace('[5m]', '[5s]') : expr);
    };
    const becomesTrue = (alert: string) =>
      eventually(async () => expect(await samplesOf(alert), alert).not.toEqual([]));
    const becomesFalse = (alert: string) => eventually(async () => expect(await samplesOf(alert), alert).toEqual([]));
    const { sql } = service.database;
    const [url = ''] = service.urls;
    const { live } = await service.account();
    const code = await codeOf(live);
    await setHook(live, receiver.url('slow'));

    const released = Promise.withResolvers<void>();
    receiver.behave('slow', async (socket, received) => {
      await released.promise;
      return answer(200)(socket, received);
    });
    await clickhouse.cut();
    // The next partition cannot be created, because a table with another name has its range.
    await sql`ALTER TABLE scans_2 RENAME TO scans_in_the_way`;
    // More than the 8 that are sent at the same time.
    await scanCode(url, code, 20);
    await receiver.gets('slow', 8);
    clockAheadMs = 10 * 60_000;
    await Promise.all([
      becomesTrue('ScanlogWebhooksDelayed'),
      becomesTrue('ScanlogProjectionStandsStill'),
      becomesTrue('ScanlogPartitionUpkeepFailing'),
    ]);
    await postgres.cut();
    await scanCode(url, code);
    await becomesTrue('ScanlogSpoolStalled');

    await sql`ALTER TABLE scans_in_the_way RENAME TO scans_2`;
    await Promise.all([postgres.restore(), clickhouse.restore()]);
    released.resolve();
    await Promise.all([becomesFalse('ScanlogSpoolStalled'), becomesFalse('ScanlogWebhooksDelayed')]);
  });
});
