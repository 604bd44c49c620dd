import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { messageOf, StartError } from '../lib/errors.ts';

/**
 * For files that the servers' user must open by path, but that are below a folder closed to other users, such as a home
 * directory of mode 700. Not below /tmp, where files that have not been used for days are deleted.
 */
const openFolder = '/var/lib/scanlog';

/** The counterpart of a path below a folder that every user can enter. */
export const openPathOf = (path: string) => join(openFolder, path);

/** Whether other users can enter every folder above `path`. */
export function isOpenToOthers(path: string): boolean {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

/**
 * The folder in which other users can read `paths`, which are relative to `root`: `root` itself if it is open to them, else
 * a mirror of it, made of hard links or, on another file system, of copies.
 */
export function readableRoot(root: string, paths: string[]): string {
  const real = realpathSync(root);
  if (paths.every((path) => isReadable(join(real, path)))) return real;
  const mirror = openPathOf(real);
  try {
    for (const path of paths) {
      makeOpenFolder(dirname(join(mirror, path)));
      mirrorTo(join(mirror, path), join(real, path));
    }
  } catch (error) {
    throw new StartError(
      `${real} is closed to other users, and its programs cannot be copied to ${openFolder} (${messageOf(error)}): move this folder to a path that every user can read, or start as a user other than root.`,
    );
  }
  return mirror;
}

/** The path by which other users can read a program that consists of one file. */
export function readableProgram(path: string): string {
  const real = realpathSync(path);
  return join(readableRoot(dirname(real), [basename(real)]), basename(real));
}

const isReadable = (path: string) => isOpenToOthers(path) && isOpen(statSync(path));

function isOpen(file: Stats): boolean {
  const needed = file.isDirectory() || (file.mode & 0o100) !== 0 ? 0o005 : 0o004;
  return (file.mode & needed) === needed;
}

/** Creates a folder and its parents, which others can enter but not list, whatever the umask is. */
export function makeOpenFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeOpenFolder(dirname(folder));
  mkdirSync(folder);
  chmodSync(folder, 0o711);
}

function mirrorTo(target: string, source: string): void {
  const from = lstatSync(source);
  if (from.isDirectory()) {
    makeOpenFolder(target);
    chmodSync(target, 0o755);
    for (const name of readdirSync(source)) mirrorTo(join(target, name), join(source, name));
    return;
  }
  const there = lstatSync(target, { throwIfNoEntry: false });
  // A copy keeps the modification time in milliseconds only.
  if (there?.size === from.size && Math.trunc(there.mtimeMs) === Math.trunc(from.mtimeMs)) return;
  // Replaced by rename, because another stack may be running the old file.
  const temporary = `${target}.${process.pid}`;
  rmSync(temporary, { force: true });
  if (from.isSymbolicLink()) symlinkSync(readlinkSync(source), temporary);
  else copyOrLink(source, temporary, from);
  renameSync(temporary, target);
}

function tryLink(source: string, target: string): boolean {
  try {
    linkSync(source, target);
    return true;
  } catch {
    // It is on another file system.
    return false;
  }
}

function copyOrLink(source: string, target: string, from: Stats): void {
  if (isOpen(from) && tryLink(source, target)) return;
  copyFileSync(source, target);
  chmodSync(target, (from.mode & 0o100) === 0 ? 0o644 : 0o755);
  utimesSync(target, from.atime, from.mtime);
}
