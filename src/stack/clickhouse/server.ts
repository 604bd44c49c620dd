import { fstatSync } from 'node:fs';
import type { Server } from 'node:http';
import { parseArgs } from 'node:util';
import { leaveFirstCpu } from '../../lib/leave-first-cpu.ts';
import { lowerPriority } from '../../lib/lower-priority.ts';
import type { Engine } from './engine.ts';
import { clickhouseServer } from './http.ts';

function fail(error: unknown): never {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
}

process.once('uncaughtException', fail);

const { values } = parseArgs({
  options: {
    engine: { type: 'string' },
    data: { type: 'string' },
    port: { type: 'string' },
    config: { type: 'string' },
    'stop-timeout-ms': { type: 'string' },
    'below-redirects': { type: 'boolean', default: false },
  },
});
if (values['below-redirects']) void lowerPriority();

async function openEngine(): Promise<Engine> {
  if (values.engine === 'wasm') return (await import('./wasm.ts')).wasmEngine();
  if (values.engine !== 'native') throw new Error(`--engine must be native or wasm, not ${values.engine}`);
  if (values.data === undefined) throw new Error('ClickHouse needs --data');
  return (await import('./native.ts')).nativeEngine(values.data, values.config);
}

/** The first statement is slow. */
async function warmUp(engine: Engine): Promise<void> {
  const connection = await engine.connect();
  await connection.run('SELECT number % 7 AS k, count() FROM numbers(1000) GROUP BY k ORDER BY k');
  await connection.close();
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(new Error(`ClickHouse cannot listen on port ${port}: ${error.message}`)));
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

function stopOn(server: Server, engine: Engine): void {
  let stopping = false;
  const stop = () => {
    if (stopping) return;
    stopping = true;
    // Queries that still run after this are abandoned, which is safe: a part on disk is either complete or absent.
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), Number(values['stop-timeout-ms'])).unref();
    server.close();
    // Closing a connection cancels its query.
    server.closeAllConnections();
    engine.close().then(() => process.exit(0), fail);
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  // A closed pipe means that the parent process is gone. A terminal or /dev/null as stdin means nothing.
  const stdin = fstatSync(0);
  if (stdin.isFIFO() || stdin.isSocket()) process.stdin.once('end', stop).once('error', stop).resume();
}

try {
  const engine = await openEngine();
  await warmUp(engine);
  const server = clickhouseServer(engine, process.env['CLICKHOUSE_PASSWORD'] ?? '');
  const port = await listen(server, Number(values.port ?? 0));
  stopOn(server, engine);
  // Not before: the start uses all CPUs.
  if (values['below-redirects']) leaveFirstCpu();
  console.log(JSON.stringify({ port }));
} catch (error) {
  fail(error);
}
