import { hostOf } from '../../events/hosts.ts';
import { StartError } from '../lib/errors.ts';
import { fileVariableOf, readSecretFile } from '../lib/secret-file.ts';
import { setTimeouts } from '../lib/timeouts.ts';
import { oidcProblems } from './oidc-settings.ts';
import type { DefaultedSetting, Setting } from './setting.ts';
import { settings } from './settings.ts';

type ValueOf<S> = S extends DefaultedSetting<infer T> ? T : S extends Setting<infer T> ? T | undefined : never;

/** The settings of every process. Those without a fallback may be undefined, the addresses of the servers included. */
export type Config = { [K in keyof typeof settings]: ValueOf<(typeof settings)[K]> };

/** Settings that are required without `up`, which provides them itself. */
interface Needed {
  databaseUrl: string;
  natsUrl: string;
  clickhouseUrl: string;
  secretKey: string;
}

/** A configuration that the service can run on. */
export type ServiceConfig = Config & Needed;

export type Flags = Record<string, string | undefined>;

/** Reads all settings; throws with one sentence for each that is wrong. */
export function readConfig(environment: NodeJS.ProcessEnv, flags: Flags = {}): Config {
  const errors: string[] = [];
  const config: Record<string, unknown> = {};
  for (const [key, setting] of Object.entries<Setting<unknown>>(settings)) {
    const given = givenText(setting, environment, flags);
    if (given === undefined) continue;
    if ('error' in given) {
      errors.push(given.error);
      continue;
    }
    const result = setting.read(given.text);
    // The value is not repeated: it may contain a password.
    if ('must' in result) errors.push(`${given.name} must ${result.must}.`);
    else config[key] = result.value;
  }
  if (errors.length === 0) errors.push(...missingWithMail(config as Config));
  if (errors.length === 0) errors.push(...oidcProblems(config));
  if (errors.length > 0) throw new StartError(errors.join('\n'));
  // Not checked by the compiler: each value comes from its setting's reader, and is there if the setting has a fallback.
  return config as Config;
}

/** What mails need besides a server. */
function missingWithMail({ smtpUrl, mailFrom, publicUrl, roles }: Config): string[] {
  if (smtpUrl === undefined) return [];
  if (mailFrom === undefined) return [`MAIL_FROM must be set with SMTP_URL: ${settings.mailFrom.about}`];
  // The port of such a process is not the port of the service.
  return publicUrl === undefined && !roles.includes('api')
    ? ['PUBLIC_URL must be set with SMTP_URL for a process without the role api: links in mails begin with it.']
    : [];
}

/** Scales the timeouts of this process by TIMEOUT_SCALE. `readConfig` reports a wrong value. */
export function applyTimeoutScale(environment: NodeJS.ProcessEnv): void {
  const { variable, read, fallback } = settings.timeoutScale;
  const result = read(environment[variable] || fallback);
  if ('value' in result) setTimeouts(result.value);
}

/** The text of a setting and the name that it was given under, or a sentence about what is wrong. */
type Given = { name: string; text: string } | { error: string };

function givenText(setting: Setting<unknown>, environment: NodeJS.ProcessEnv, flags: Flags): Given | undefined {
  const { variable, flag, fallback, isSecret } = setting;
  const flagged = flag === undefined ? undefined : flags[flag];
  if (flagged !== undefined) return { name: `--${flag}`, text: flagged };
  const fileVariable = fileVariableOf(variable);
  const file = isSecret === true ? environment[fileVariable] : undefined;
  if (file && environment[variable])
    return { error: `${variable} and ${fileVariable} are both set: unset one of them.` };
  if (file) return { name: `The file of ${fileVariable}`, ...readSecretFile(fileVariable, file) };
  const text = environment[variable] || fallback;
  return text === undefined ? undefined : { name: variable, text };
}

/** Returns the configuration if all required settings are there; throws with one sentence for each that is missing. */
export function requireParts(config: Config): ServiceConfig {
  const { databaseUrl, natsUrl, clickhouseUrl, secretKey } = config;
  if (databaseUrl !== undefined && natsUrl !== undefined && clickhouseUrl !== undefined && secretKey !== undefined)
    return { ...config, databaseUrl, natsUrl, clickhouseUrl, secretKey };
  const needed = ['databaseUrl', 'natsUrl', 'clickhouseUrl', 'secretKey'] as const;
  const missing = needed.filter((key) => config[key] === undefined);
  throw new StartError(
    missing.map((key) => `${settings[key].variable} must be set: ${settings[key].about}`).join('\n'),
  );
}

export interface Addresses {
  publicUrl: string;
  shortBaseUrl: string;
  imageBaseUrl: string;
  /** Every address that short links may be reached under. The host of images may be a CDN with other files. */
  ownUrls: string[];
  /** Where custom domains must lead: a host name, or an address without brackets. */
  domainTarget: string;
  /** Hosts of the service itself, which cannot be custom domains. */
  ownHosts: string[];
}

/** The public addresses, which depend on the port when none is set. */
export function addressesOf(config: Config, port: number): Addresses {
  const { host, publicUrl, shortBaseUrl, imageBaseUrl } = config;
  const base = publicUrl ?? `http://localhost:${port}`;
  const bases = { publicUrl: base, shortBaseUrl: shortBaseUrl ?? base, imageBaseUrl: imageBaseUrl ?? `${base}/images` };
  const listening = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const own = [bases.shortBaseUrl, bases.publicUrl, `http://localhost:${port}`, listening];
  const ownUrls = [...new Set(own.filter((url) => URL.canParse(url)).map((url) => new URL(url).origin))];
  const domainTarget = config.domainTarget ?? hostOf(bases.shortBaseUrl).replace(/^\[|\]$/g, '');
  const ownHosts = [...new Set([...Object.values(bases).map(hostOf), domainTarget])];
  return { ...bases, ownUrls, domainTarget, ownHosts };
}
