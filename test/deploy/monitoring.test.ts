import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../src/stack/processes.ts';
import { eventually } from '../support/eventually.ts';
import { programOf, type RunningProgram, runProgram, startProgram } from '../support/programs.ts';
import { useService } from '../support/service.ts';

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

describe('a Prometheus that scrapes the service', () => {
  const service = useService();
  const folder = mkdtempSync(join(tmpdir(), 'scanlog-prometheus-'));
  let prometheus: RunningProgram;
  let url = '';

  async function get<T>(path: string): Promise<T> {
    const answer = await fetch(`${url}/api/v1/${path}`);
    const { status, data, error } = (await answer.json()) as { status: string; data: T; error?: string };
    expect(status, error).toBe('success');
    return data;
  }
  const query = async (expr: string) =>
    (await get<{ result: object[] }>(`query?query=${encodeURIComponent(expr)}`)).result;

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
  });
  afterAll(async () => {
    await prometheus?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('has every metric of the alerts and of the dashboard, and no alert while there is no fault', async () => {
    await eventually(async () => expect(await query('up{job="scanlog"} == 1'), prometheus.output()).toHaveLength(1));
    const account = await service.account();
    const { short_code } = (
      await account.live.post('/v1/qrcodes', { name: 'Menu', destination_url: 'https://example.com' })
    ).body;
    await fetch(`${service.urls[0]}/${short_code}`, { redirect: 'manual' });

    const selectors = selectorsIn(read('prometheus/alerts.yml') + queries.map(({ expr }) => expr).join('\n'));
    expect(selectors.size).toBeGreaterThan(25);
    await eventually(async () => {
      for (const selector of selectors) expect(await query(selector), selector).not.toEqual([]);
    });
    // Each query, including its functions and labels, has a result in Prometheus: a panel is never empty.
    await eventually(async () => {
      for (const { title, expr } of queries) expect(await query(expr), `${title}: ${expr}`).not.toEqual([]);
    });

    const { groups } = await get<{ groups: { rules: { name: string; health: string; state: string }[] }[] }>('rules');
    const rules = groups.flatMap((group) => group.rules);
    expect(rules.length).toBeGreaterThan(15);
    expect(rules.map(({ name, health, state }) => [name, health, state])).toEqual(
      rules.map(({ name }) => [name, 'ok', 'inactive']),
    );
  });
});
