import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../src/stack/processes.ts';
import { eventually } from '../support/eventually.ts';
import { conditionTimeoutMs } from '../support/limits.ts';
import { programOf, type RunningProgram, startProgram } from '../support/programs.ts';
import { authority, certificate, privateKey } from '../webhooks/certificate.ts';

/** The host of the certificate. */
export const domain = 'hook.test';

const files = { caddy: 'caddy/Caddyfile', nginx: 'nginx/scanlog.conf' };
/** The configuration in deploy/. */
export const shippedText = (name: keyof typeof files) =>
  readFileSync(fileURLToPath(new URL(`../../deploy/${files[name]}`, import.meta.url)), 'utf8');

export interface TlsProxy {
  httpPort: number;
  httpsPort: number;
  /** The file with the authority that its certificate is verified with. */
  authority: string;
  stop(): Promise<void>;
}

type Start = (parts: { folder: string; httpPort: number; httpsPort: number; upstream: string }) => {
  program: RunningProgram;
  authority: string;
};

/** The shipped Caddyfile, with a certificate of Caddy's local authority instead of a public one, and on other ports. */
const startCaddy: Start = ({ folder, httpPort, httpsPort, upstream }) => {
  const options = [
    'admin off',
    'local_certs',
    'skip_install_trust',
    `http_port ${httpPort}`,
    `https_port ${httpsPort}`,
  ];
  const file = join(folder, 'Caddyfile');
  const shipped = shippedText('caddy');
  if (!shipped.includes('\n{\n')) throw new Error('deploy/caddy/Caddyfile has no global options.');
  writeFileSync(file, shipped.replace('\n{\n', `\n{\n${options.join('\n')}\n`));
  const environment = {
    HOME: folder,
    XDG_DATA_HOME: folder,
    SCANLOG_DOMAIN: domain,
    SCANLOG_UPSTREAM: upstream,
    SCANLOG_ASK: upstream,
  };
  return {
    program: startProgram(programOf('caddy'), ['run', '--config', file, '--adapter', 'caddyfile'], environment),
    authority: join(folder, 'caddy/pki/authorities/local/root.crt'),
  };
};

/** The shipped configuration of nginx, on other ports and with the certificate of the tests. */
const startNginx: Start = ({ folder, httpPort, httpsPort, upstream }) => {
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const changes: [string, string][] = [
    ['server 127.0.0.1:3000', `server ${upstream}`],
    ['listen 80;', `listen 127.0.0.1:${httpPort};`],
    ['listen [::]:80;', ''],
    ['listen 443 ssl', `listen 127.0.0.1:${httpsPort} ssl`],
    ['listen [::]:443 ssl http2;', ''],
    ['root /var/www/html', `root ${folder}`],
    ['/etc/letsencrypt/live/qr.example.com/fullchain.pem', file('certificate.pem', certificate)],
    ['/etc/letsencrypt/live/qr.example.com/privkey.pem', file('key.pem', privateKey)],
  ];
  const site = changes.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`deploy/nginx/scanlog.conf has no "${from}".`);
    return text.replace(from, to);
  }, shippedText('nginx'));
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (of) => `${of}_temp_path ${folder}/${of};`,
  );
  const main = file(
    'nginx.conf',
    `daemon off; pid ${folder}/nginx.pid; worker_processes 1; error_log stderr; events {}
    http { access_log off; ${temporary.join(' ')} include ${file('site.conf', site.replaceAll('qr.example.com', domain))}; }`,
  );
  const program = startProgram(programOf('nginx'), ['-p', folder, '-e', 'stderr', '-c', main]);
  return { program, authority: file('authority.pem', authority) };
};

export const proxies = { caddy: startCaddy, nginx: startNginx };

/** Starts a proxy with the configuration in deploy/, in front of `upstream` (host and port). */
export async function startTlsProxy(
  name: keyof typeof proxies,
  upstream: string,
  ports?: { httpPort: number; httpsPort: number },
): Promise<TlsProxy> {
  const folder = mkdtempSync(join(tmpdir(), `scanlog-${name}-`));
  // As root, the workers of nginx run as another user.
  chmodSync(folder, 0o755);
  const { httpPort, httpsPort } = ports ?? { httpPort: await freePort(), httpsPort: await freePort() };
  const { program, authority } = proxies[name]({ folder, httpPort, httpsPort, upstream });
  const stop = async () => {
    await program.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  const started = { httpPort, httpsPort, authority, stop };
  try {
    // Caddy listens before it has its first certificate.
    await eventually(() => request(started, '/healthz'));
  } catch (error) {
    await stop();
    throw new Error(`${name} did not start: ${program.output()}`, { cause: error });
  }
  return started;
}

export interface ProxyResponse {
  status: number;
  httpVersion: string;
  headers: Record<string, string>;
  body: string;
}

/** Requests a path over the proxy with curl, which verifies its certificate. */
export async function request(
  proxy: TlsProxy,
  path: string,
  args: string[] = [],
  options: Options = {},
): Promise<ProxyResponse> {
  const { output, exitCode } = curl(proxy, path, ['--include', ...args], options);
  const code = await exitCode;
  if (code !== 0) throw new Error(`curl ended with ${code}: ${output()}`);
  const [head = '', ...rest] = output()
    .replace(/^(HTTP\/\S+ 1\d\d[\s\S]*?\r\n\r\n)+/, '')
    .split('\r\n\r\n');
  const [first = '', ...lines] = head.split('\r\n');
  const [, httpVersion = '', status = ''] = /^HTTP\/(\S+) (\d+)/.exec(first) ?? [];
  const headers = lines.map((line) => [line.split(':', 1)[0]?.toLowerCase(), line.slice(line.indexOf(':') + 2)]);
  return { status: Number(status), httpVersion, headers: Object.fromEntries(headers), body: rest.join('\r\n\r\n') };
}

interface Options {
  scheme?: 'http' | 'https';
  host?: string;
  /** What curl reads from stdin. */
  input?: string;
}

const curlTimeoutS = String(conditionTimeoutMs / 1000);

/** Starts curl; `output` grows as it receives. */
export function curl(
  proxy: TlsProxy,
  path: string,
  args: string[] = [],
  { scheme = 'https', host = domain, input = '' }: Options = {},
) {
  const port = scheme === 'https' ? proxy.httpsPort : proxy.httpPort;
  const common = ['--silent', '--show-error', '--no-buffer', '--max-time', curlTimeoutS, '--cacert', proxy.authority];
  const resolve = ['--resolve', `${host}:${port}:127.0.0.1`];
  const child = spawn('curl', [...common, ...resolve, ...args, `${scheme}://${host}:${port}${path}`]);
  let output = '';
  const collect = (chunk: Buffer) => {
    output += chunk.toString();
  };
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  return {
    output: () => output,
    exitCode: new Promise<number | null>((resolve) => child.once('close', resolve)),
    stop: () => child.kill(),
  };
}
