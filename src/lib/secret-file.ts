import { readFileSync } from 'node:fs';
import { codeOf, messageOf } from './errors.ts';

/** The variable that names the file of a secret setting. */
export const fileVariableOf = (variable: string) => `${variable}_FILE`;

/** The text of a secret setting that is given by file, or a sentence about what is wrong. */
export function readSecretFile(variable: string, file: string): { text: string } | { error: string } {
  try {
    // Editors and `echo` end a file with a line feed, which is not part of the secret.
    const text = readFileSync(file, 'utf8').trimEnd();
    return text === '' ? { error: `${variable} names an empty file: ${file}.` } : { text };
  } catch (error) {
    return { error: `${variable} names a file that cannot be read (${codeOf(error) || messageOf(error)}): ${file}.` };
  }
}

/**
 * The environment of a child process that gets `values` as variables; the files of these settings are left out.
 *
 * @example
 * environmentWith({ SECRET_KEY_FILE: '/run/key', HOME: '/root' }, { SECRET_KEY: key }); // { HOME: '/root', SECRET_KEY: key }
 */
export function environmentWith(environment: NodeJS.ProcessEnv, values: Record<string, string>): NodeJS.ProcessEnv {
  const replaced = new Set(Object.keys(values).map(fileVariableOf));
  const kept = Object.entries(environment).filter(([name]) => !replaced.has(name));
  return { ...Object.fromEntries(kept), ...values };
}
