import { useLayoutEffect, useState } from 'preact/hooks';
import { bootstrap } from './welcome.ts';

/** A value that this browser keeps for the account of the page, shared by all components that use it. */
export interface Stored<T> {
  read(): T;
  write(value: T): void;
  use(): T;
}

/** `parse` also gets null, where nothing is stored, and values of another version. */
export function stored<T>(name: string, parse: (value: unknown) => T): Stored<T> {
  const key = `scanlog.${bootstrap.account.id}.${name}`;
  const listeners = new Set<(value: T) => void>();
  let current: { value: T } | undefined;
  const read = () => {
    current ??= { value: parse(readJson(key)) };
    return current.value;
  };
  return {
    read,
    write(value) {
      current = { value };
      writeJson(key, value);
      for (const listener of listeners) listener(value);
    },
    use() {
      const [value, setValue] = useState(read);
      useLayoutEffect(() => {
        listeners.add(setValue);
        return () => void listeners.delete(setValue);
      }, []);
      return value;
    },
  };
}

function readJson(key: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(key) ?? 'null');
  } catch {
    return null;
  }
}

function writeJson(key: string, value: unknown): void {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // A browser that stores nothing keeps the value until the page is left.
  }
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
