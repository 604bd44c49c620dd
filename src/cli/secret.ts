import { randomBytes } from 'node:crypto';
import { readConfig } from '../config/config.ts';
import { StartError } from '../lib/errors.ts';
import { createSecretBox } from '../lib/secret-box.ts';
import type { Sql } from '../lib/sql.ts';
import { migrate } from '../log/migrate.ts';
import { refuseWhileServed } from '../maintenance/restore.ts';
import {
  countSealed,
  refuseKnownKey,
  resetSecretKey,
  rotateSecretKey,
  type Sealed,
} from '../maintenance/rotate-key.ts';
import { storedSecrets, writeSecrets } from '../stack/data-directory.ts';
import { findSecretKey, refuseInterrupted, withStoredDatabase } from './connection.ts';
import { ask, counted, green, print, printJson } from './terminal.ts';

interface Options {
  data: string;
  json?: boolean;
}

/** Encrypts everything with a new key: NEW_SECRET_KEY, or for a data folder of `up` one that it generates and stores. */
export async function secretRotate({ data, json }: Options): Promise<void> {
  const { secretKey, newSecretKey } = readConfig(process.env);
  const rotated =
    secretKey === undefined
      ? await rotateStored(data, newSecretKey)
      : await rotate(
          data,
          secretKey,
          newSecretKey ?? refuseMissing('NEW_SECRET_KEY is not set: set it to the new key.'),
        );
  const file = secretKey === undefined ? `${data}/secrets.json` : null;
  if (json) return printJson({ rotated: true, ...present(rotated), secrets_file: file });
  print(`${green('✓')} Encrypted ${inWords(rotated)} with the new key.`);
  print(
    file === null
      ? '  Start every process with SECRET_KEY set to the new key. Keep the old key as long as backups made with it.'
      : `  The new key is in ${file}: keep a copy of that file in another place. Keep the old copy as long as older backups.`,
  );
}

async function rotate(
  data: string,
  from: string,
  to: string,
  use = (rotation: () => Promise<Sealed>) => rotation(),
): Promise<Sealed> {
  if (from === to)
    throw new StartError('NEW_SECRET_KEY is the same as SECRET_KEY: generate a new key with openssl rand -hex 32.');
  const boxes = { from: createSecretBox(from), to: createSecretBox(to) };
  return withStoppedDatabase(data, 'rotate the key', (sql) => use(() => rotateSecretKey(sql, boxes)));
}

const withStoppedDatabase = <T>(data: string, step: string, use: (sql: Sql) => Promise<T>): Promise<T> =>
  withStoredDatabase(data, async (sql) => {
    await refuseWhileServed(sql, step);
    await migrate(sql);
    return use(sql);
  });

/** Stores the new key on disk before the database uses it, so that an interrupted rotation can be repeated. */
async function rotateStored(data: string, given: string | undefined): Promise<Sealed> {
  const { secretKey, nextSecretKey } = storedSecrets(data);
  const from =
    secretKey ?? refuseMissing(`There is no key in ${data}/secrets.json: pass another --data, or set SECRET_KEY.`);
  const to = nextSecretKey ?? given ?? randomBytes(32).toString('hex');
  // Reads the file each time, because starting Postgres may have added secrets to it.
  const keep = (keys: { secretKey: string; nextSecretKey?: string }) => {
    const { nextSecretKey: _, ...others } = storedSecrets(data);
    writeSecrets(data, { ...others, ...keys });
  };
  const rotated = await rotate(data, from, to, (rotation) => {
    keep({ secretKey: from, nextSecretKey: to });
    return rotation().catch((error) => {
      // A StartError is thrown before the commit: there is nothing to repeat.
      if (error instanceof StartError) keep({ secretKey: from });
      throw error;
    });
  });
  keep({ secretKey: to });
  return rotated;
}

/** Replaces everything that was encrypted with a lost key, after a confirmation. */
export async function secretReset({ data, json, yes }: Options & { yes?: boolean }): Promise<void> {
  if (readConfig(process.env).secretKey === undefined) refuseInterrupted(data);
  const box = createSecretBox(
    findSecretKey(data) ??
      refuseMissing('SECRET_KEY is not set: generate a new key with openssl rand -hex 32, and set it.'),
  );
  const reset = await withStoppedDatabase(data, 'reset the key', async (sql) => {
    await refuseKnownKey(sql, box);
    if (!yes) await confirm(await countSealed(sql));
    return resetSecretKey(sql, box, new Date());
  });
  if (json) return printJson({ reset: true, ...present(reset) });
  print(`${green('✓')} Replaced ${inWords(reset)}. The database now uses this SECRET_KEY.`);
}

async function confirm(sealed: Sealed): Promise<void> {
  const cost = `This replaces ${inWords(sealed)}. Every receiver of webhooks must be given its new secret, a returning visitor of a code counts as new once, and people set up their one-time codes again. It cannot be undone.`;
  if (process.stdin.isTTY !== true) throw new StartError(`${cost} To confirm, repeat the command with --yes.`);
  const answer = await ask(`${cost}\nType yes to continue: `);
  if (answer !== 'yes') throw new StartError('Nothing has changed: the answer was not yes.');
}

function refuseMissing(message: string): never {
  throw new StartError(message);
}

const present = ({ webhooks, codes, people }: Sealed) => ({
  webhook_secrets: webhooks,
  visitor_keys: codes,
  one_time_code_secrets: people,
});
const inWords = ({ webhooks, codes, people }: Sealed) =>
  `the secrets of ${counted(webhooks, 'webhook')}, the visitor keys of ${counted(codes, 'code')} and the one-time codes of ${people === 1 ? '1 person' : `${people} people`}`;
