import type { ClickHouseClient } from '@clickhouse/client';
import type { Tracing } from '../tracing/tracing.ts';
import type { Warehouse } from './connect.ts';

/** Makes the client of a warehouse record its statements as spans, if they belong to a recorded request or batch. */
export function traceClient({ client, database }: Warehouse, tracing: Tracing): void {
  const traced = <P, R>(call: (parameters: P) => Promise<R>, operationOf: (parameters: P) => string) => {
    return (parameters: P): Promise<R> => {
      const parent = tracing.active();
      if (parent === undefined) return call(parameters);
      const operation = operationOf(parameters);
      const attributes = {
        'db.system.name': 'clickhouse',
        'db.operation.name': operation,
        'db.namespace': database,
      };
      return tracing.record(`${operation} ${database}`, { kind: 'client', parent, attributes }, () => call(parameters));
    };
  };
  const methods = {
    query: traced(client.query.bind(client), operationIn),
    command: traced(client.command.bind(client), operationIn),
    exec: traced(client.exec.bind(client), operationIn),
    insert: traced(client.insert.bind(client), () => 'INSERT'),
  };
  Object.assign<ClickHouseClient, object>(client, methods);
}

/** The first word of a statement. Statements have their values as parameters, and none is recorded. */
const operationIn = ({ query }: { query: string }) => /[A-Za-z]+/.exec(query)?.[0].toUpperCase() ?? 'QUERY';
