import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StartError } from '../../lib/errors.ts';
import { timeouts } from '../../lib/timeouts.ts';
import { type EngineName, engineNames } from './engine.ts';

const require = createRequire(import.meta.url);

/** The first version of Node that strips types and runs chdb-wasm without flags. */
const oldestNode = { major: 23, minor: 6 };

const platformLibraries: Readonly<Record<string, string>> = {
  'darwin-arm64': '@chdb/lib-darwin-arm64',
  'darwin-x64': '@chdb/lib-darwin-x64',
  'linux-arm64': '@chdb/lib-linux-arm64-gnu',
  'linux-x64': '@chdb/lib-linux-x64-gnu',
};

let node: { path: string | undefined } | undefined;

/** The path of the machine's Node if that is new enough, else of the one from npm. */
export function nodeRuntime(): string | undefined {
  node ??= { path: newEnough('node') ?? newEnough(npmNode()) };
  return node.path;
}

function npmNode(): string | undefined {
  return resolved(`node-${process.platform}-${process.arch}/bin/node`);
}

/**
 * Runs the program, because its name is not enough: under `bun --bun` the `node` on the PATH is Bun, which cannot run
 * chdb-wasm, and with a version manager it is a script that starts Node.
 */
function newEnough(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  try {
    const script = 'JSON.stringify([process.versions.bun ? "0.0" : process.versions.node, process.execPath])';
    const printed = execFileSync(path, ['-p', script], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    const [version, program]: [string, string] = JSON.parse(printed);
    const [major = 0, minor = 0] = version.split('.').map(Number);
    const isNewEnough = major > oldestNode.major || (major === oldestNode.major && minor >= oldestNode.minor);
    return isNewEnough ? program : undefined;
  } catch {
    return undefined;
  }
}

function resolved(name: string, from: NodeJS.Require = require): string | undefined {
  try {
    return from.resolve(name);
  } catch {
    return undefined;
  }
}

/** Why an engine cannot run on this machine; undefined if it can. */
export function missingFor(engine: EngineName): string | undefined {
  const runtime = `Node ${oldestNode.major}.${oldestNode.minor} or newer`;
  if (nodeRuntime() === undefined)
    return `neither ${runtime} nor the npm package node-${process.platform}-${process.arch} is installed, or the latter lacks libatomic1`;
  if (engine === 'wasm')
    return resolved('chdb-wasm/chdb.wasm') === undefined ? 'chdb-wasm is not installed' : undefined;
  const chdb = resolved('chdb');
  if (chdb === undefined) return 'chdb is not installed';
  const library = platformLibraries[`${process.platform}-${process.arch}`];
  if (library === undefined) return `chdb has no library for ${process.platform}-${process.arch}`;
  return resolved(library, createRequire(chdb)) === undefined ? `${library} is not installed` : undefined;
}

/** The engines that can run on this machine, the faster one first. */
export function availableEngines(): EngineName[] {
  return engineNames.filter((engine) => missingFor(engine) === undefined);
}

export const engineVariable = 'SCANLOG_CLICKHOUSE_ENGINE';

/**
 * The engines to use, the faster one first: all that can run on this machine, or only the one that
 * `SCANLOG_CLICKHOUSE_ENGINE` names. Throws a `StartError` when that one cannot run.
 */
export function selectedEngines(wanted = process.env[engineVariable]): EngineName[] {
  if (wanted === undefined || wanted === '') return availableEngines();
  const engine = engineNames.find((name) => name === wanted);
  if (engine === undefined)
    throw new StartError(`${engineVariable} must be ${engineNames.join(' or ')}, not ${wanted}.`);
  const missing = missingFor(engine);
  if (missing !== undefined) throw new StartError(`${engineVariable}=${engine} cannot run here: ${missing}.`);
  return [engine];
}

export const checkout = fileURLToPath(new URL('../../../', import.meta.url));

/** The files that the server process reads, besides Node itself, relative to the checkout. */
export function serverFiles(engine: EngineName): string[] {
  const packages = new Set<string>();
  const add = (name: string) => {
    const folder = join('node_modules', name);
    if (packages.has(folder) || !existsSync(join(checkout, folder))) return;
    packages.add(folder);
    const { dependencies = {}, optionalDependencies = {} }: { [kind: string]: Record<string, string> } = JSON.parse(
      readFileSync(join(checkout, folder, 'package.json'), 'utf8'),
    );
    for (const needed of Object.keys({ ...dependencies, ...optionalDependencies })) add(needed);
  };
  add(engine === 'native' ? 'chdb' : 'chdb-wasm');
  return ['package.json', 'src/lib', 'src/stack/clickhouse', ...packages];
}

export interface ClickHouseCommand {
  command: string;
  args: string[];
  env: NodeJS.ProcessEnv;
}

export interface ClickHouseCommandOptions {
  engine: EngineName;
  dataDir: string;
  /** 0 for any free port, which the server prints when it is ready. */
  port: number;
  password: string;
  /** Paths of Node and of the checkout if the server must read copies of them: see `serverFiles`. */
  runtime?: string;
  root?: string;
  /** Server configuration for the native engine, such as clusters and macros. */
  configFile?: string;
  /** Whether the server has a lower priority than redirects, and leaves one CPU to them. */
  isBelowRedirects?: boolean;
}

/**
 * V8 would soon recompile thousands of ClickHouse's functions with its optimizing compiler: 15 s on both cores in the first
 * minute, during which first reads take seconds. With this budget only the hottest functions are recompiled, and without
 * inlining the others do not count their calls: 10 % less CPU. Functions are validated when they are first called: a start takes
 * 0.8 s of CPU and 130 MB less.
 */
const wasmFlags = ['--wasm-tiering-budget=500000000', '--no-wasm-inlining', '--wasm-lazy-validation'];

/** The command that starts the server. Pass it a pipe as stdin and keep it open: the server stops when it is closed. */
export function clickhouseCommand(options: ClickHouseCommandOptions): ClickHouseCommand {
  const { engine, dataDir, port, password, configFile, isBelowRedirects = false } = options;
  const { runtime = nodeRuntime(), root = checkout } = options;
  const missing = missingFor(engine);
  if (runtime === undefined || missing !== undefined) throw new Error(`ClickHouse (${engine}) cannot run: ${missing}`);
  return {
    command: runtime,
    args: [
      '--disable-warning=ExperimentalWarning',
      ...(engine === 'wasm' ? wasmFlags : []),
      join(root, 'src/stack/clickhouse/server.ts'),
      '--engine',
      engine,
      '--data',
      dataDir,
      '--port',
      String(port),
      '--stop-timeout-ms',
      String(timeouts.clickhouseStopMs),
      ...(configFile === undefined ? [] : ['--config', configFile]),
      ...(isBelowRedirects ? ['--below-redirects'] : []),
    ],
    env: {
      ...process.env,
      // Not an argument, which every user of the machine can read.
      CLICKHOUSE_PASSWORD: password,
      // A DateTime without a time zone must not depend on the machine.
      TZ: 'UTC',
      // Each native query occupies one of these threads, and cancelling it needs another.
      UV_THREADPOOL_SIZE: '16',
      // Options for the parent process must not apply to Node here.
      NODE_OPTIONS: '',
    },
  };
}
