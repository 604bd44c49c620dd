import type { Reader } from '../lib/setting-readers.ts';

export interface Setting<T> {
  variable: string;
  /** The same on the command line. */
  flag?: string;
  read: Reader<T>;
  fallback?: string;
  /** Holds a key or password, so `<variable>_FILE` may name a file that contains the value. */
  isSecret?: true;
  /** One line for docs/reference.md, to whose folder links are relative. */
  about: string;
}

/** A setting that always has a value. */
export interface DefaultedSetting<T> extends Setting<T> {
  fallback: string;
}

/** A setting as it is given; with a `fallback`, its value is never undefined. */
export function setting<T>(definition: DefaultedSetting<T>): DefaultedSetting<T>;
export function setting<T>(definition: Setting<T>): Setting<T>;
export function setting<T>(definition: Setting<T>): Setting<T> {
  return definition;
}
