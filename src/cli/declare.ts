import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { leaveFirstCpu } from '../lib/leave-first-cpu.ts';
import { lowerPriority } from '../lib/lower-priority.ts';
import { defaultDataFolder } from './data-folder.ts';

/** The action of a command, whose file is loaded when it runs: loading the files of all commands takes half a second. */
export const action =
  <Name extends string, Module extends Record<Name, (...args: never[]) => unknown>>(
    load: () => Promise<Module>,
    name: Name,
  ) =>
  async (...args: unknown[]): Promise<void> => {
    const module = await load();
    await module[name](...(args as never[]));
  };

let beforeBackgroundAction = () => {};

/** Lowers the priority of this process when its command goes through the log. Call it only in a process that runs one command. */
export function lowerBackgroundCommands(): void {
  beforeBackgroundAction = () => {
    void lowerPriority();
    leaveFirstCpu();
  };
}

/** Like `action`, for a command that goes through the log while the service runs. */
export const backgroundAction: typeof action = (load, name) => {
  const run = action(load, name);
  return (...args) => {
    beforeBackgroundAction();
    return run(...args);
  };
};

export const dataOption = () =>
  new Option('--data <folder>', 'data folder of ./scanlog up')
    .default(defaultDataFolder, '.scanlog next to ./scanlog')
    .argParser((folder) => resolve(folder));

/** Commander would print the default as a string in quotes. */
export const numberOption = (flags: string, description: string, fallback: number) =>
  new Option(flags, description).default(String(fallback), String(fallback));

/** A command that operators use, in a terminal or in a script. */
export const operatorCommand = (parent: Command, name: string, description: string) =>
  parent.command(name).description(description).option('--json', 'print JSON').addOption(dataOption());
