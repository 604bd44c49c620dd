import { identifier, integer, natsServers, replicas, url, webUrl } from '../lib/setting-readers.ts';
import { setting } from './setting.ts';

/** Where Postgres, NATS and ClickHouse are, and how the service uses them. */
export const serverSettings = {
  databaseUrl: setting({
    variable: 'DATABASE_URL',
    isSecret: true,
    read: url('postgres://user:password@host:5432/scanlog', 'postgres:', 'postgresql:'),
    about: 'Postgres 15 or newer. Without it, `up` starts its own.',
  }),
  natsUrl: setting({
    variable: 'NATS_URL',
    isSecret: true,
    read: natsServers,
    about:
      'NATS 2.9 or newer with JetStream; for a cluster, all servers, separated by commas. Without it, `up` starts its own.',
  }),
  clickhouseUrl: setting({
    variable: 'CLICKHOUSE_URL',
    isSecret: true,
    read: webUrl('http://user:password@host:8123'),
    about: 'ClickHouse 24.8 or newer. Without it, `up` starts its own.',
  }),
  clickhouseDatabase: setting({
    variable: 'CLICKHOUSE_DATABASE',
    read: identifier,
    fallback: 'scanlog',
    about: 'Database for analytics, created if it does not exist.',
  }),
  clickhouseCluster: setting({
    variable: 'CLICKHOUSE_CLUSTER',
    read: identifier,
    about: 'Name of a ClickHouse cluster with one shard, over which the tables are replicated.',
  }),
  clickhouseRebuildAfterSeconds: setting({
    variable: 'CLICKHOUSE_REBUILD_AFTER_SECONDS',
    read: integer(0, 86_400),
    about:
      'How long ClickHouse must report wrong row counts before analytics are rebuilt from the log. Default: 300 with `CLICKHOUSE_CLUSTER`, 60 without, 0 for the one that `up` starts.',
  }),
  stream: setting({
    variable: 'NATS_STREAM',
    read: identifier,
    fallback: 'scanlog',
    about: 'Name of the JetStream stream.',
  }),
  natsReplicas: setting({
    variable: 'NATS_REPLICAS',
    read: replicas,
    fallback: '1',
    about: 'Servers of a NATS cluster that store the stream: 1, 3 or 5. An existing stream is changed.',
  }),
};
